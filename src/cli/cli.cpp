#include "cli/cli.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <set>
#include <thread>

#include "arrcoc/bundle.h"
#include "arrcoc/error.h"
#include "arrcoc/version.h"
#include "base/join.h"
#include "cli/hints.h"
#include "cli/plain.h"

namespace arrcoc::cli {

namespace {

// Debian's oneDNN 2.6 dies with SIGILL on AMX machines at the first bf16 product; it must be told
// before the first tensor operation. Of both names the second decides: it is left to others.
void prepare_environment() {
  if (std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr)
    ::setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// What to say of a word that is no command: those spelt nearly so, else all. names: known besides
// the app's own.
std::string unknown_command(const std::string& word, const CLI::App& app,
                            std::vector<std::string> names) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  std::sort(names.begin(), names.end());
  const std::vector<std::string> near = nearly(word, names);
  return "no command '" + word + "'; " +
         (near.empty() ? "there are " + joined(names)
                       : "did you mean " + joined(near, " or ") + "?");
}

// The flags of a command that are spelt nearly like one that it does not have; "" without any.
std::string near_flags(const std::vector<std::string>& rest, const CLI::App& at) {
  std::vector<std::string> names;
  for (const CLI::Option* option : at.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const std::string& word : rest)
    if (word.rfind("--", 0) == 0)
      if (const auto near = nearly(word.substr(0, word.find('=')), names); !near.empty())
        return "; did you mean " + joined(near, " or ") + "?";
  return "";
}

// What went wrong in one line.
std::string problem_of(const CLI::ParseError& e, const CLI::App& app, const Program& program) {
  const CLI::App* at = &app;  // the command that wants another one
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  const std::vector<std::string> rest = at->remaining();
  if (at->get_require_subcommand_min() > 0 && !rest.empty() && rest[0].rfind("-", 0) != 0)
    return unknown_command(rest[0], *at, at == &app ? program.others : std::vector<std::string>{});
  return e.what() + near_flags(rest, *at);
}

int dispatch(int argc, char** argv, const Program& program) {
  CLI::App app{"ARR-COC: only the visual tokens that a question needs", "arrcoc"};
  app.set_version_flag("--version", std::string("arrcoc ") + kVersion);
  app.require_subcommand(1);
  app.footer(program.footer);
  for (const auto& add : program.commands) add(app);
  // libtorch counts physical cores only and would leave half of a small machine idle.
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  int threads = cores;
  app.add_option("--threads", threads, "threads for tensor work")->check(CLI::Range(1, 1024));
  // Read when the bundle is loaded; programs that this one starts inherit it.
  const std::set<std::string> with_networks = {"ask", "look", "watch", "serve", "eval", "bench"};
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (with_networks.count(command->get_name()))
      command->add_option_function<std::string>(
          "--kernels",
          [](const std::string& kernels) {
            parse_enum<Kernels>(kernels);
            ::setenv("ARRCOC_KERNELS", kernels.c_str(), 1);
          },
          "how networks are computed on the CPU: auto, fast (8 bits), reference (float32)");
  app.parse_complete_callback([&] {
    // Threads that wait for each other on one core take minutes for what one of them does at once.
    constexpr int kPerCore = 4;
    if (threads > kPerCore * cores) {
      std::cerr << "arrcoc: --threads " << threads << ": " << kPerCore * cores << " are used on "
                << cores << (cores == 1 ? " core\n" : " cores\n");
      threads = kPerCore * cores;
    }
    at::set_num_threads(threads);
  });
  if (argc == 1 && program.welcome != nullptr) {
    std::cout << program.welcome();
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    std::cerr << "arrcoc: " << one_line(problem_of(e, app, program)) << " (see arrcoc --help)\n";
    return 2;
  }
  // A full disk shows only when the buffer is written.
  std::cout.flush();
  if (!std::cout) throw Error(ErrorCode::io, "cannot write to standard output");
  return 0;
}

}  // namespace

int run(int argc, char** argv, const Program& program) {
  prepare_environment();
  const PlainOutput results(std::cout), notes(std::cerr);
  try {
    media::register_strategies();
    return dispatch(argc, argv, program);
  } catch (const Error& e) {
    std::cerr << "arrcoc: " << one_line(with_hint(e.what())) << "\n";
  } catch (const std::bad_alloc&) {
    std::cerr << "arrcoc: out of memory\n";
  } catch (const std::filesystem::filesystem_error& e) {
    std::cerr << "arrcoc: " << one_line(e.path1().string()) << ": " << e.code().message() << "\n";
  } catch (const std::exception& e) {
    std::cerr << "arrcoc: unexpected: " << one_line(e.what()).substr(0, 300) << "\n";
  }
  return 1;
}

}  // namespace arrcoc::cli
