#include "cli/cli.h"

#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <thread>

#include "arrcoc/error.h"
#include "arrcoc/version.h"

namespace arrcoc::cli {

namespace {

// Debian's oneDNN 2.6 dies with SIGILL on AMX machines at the first bf16 product; it must be told
// before the first tensor operation.
void prepare_environment() {
  ::setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
  ::setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16", 0);
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

int dispatch(int argc, char** argv, const Program& program) {
  CLI::App app{"ARR-COC: only the visual tokens that a question needs", "arrcoc"};
  app.set_version_flag("--version", std::string("arrcoc ") + kVersion);
  app.require_subcommand(1);
  app.footer(program.footer);
  for (const auto& add : program.commands) add(app);
  // libtorch counts physical cores only and would leave half of a small machine idle.
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  app.add_option("--threads", threads, "threads for tensor work")->check(CLI::Range(1, 1024));
  app.parse_complete_callback([&] { at::set_num_threads(std::max(1, threads)); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    std::cerr << "arrcoc: " << one_line(e.what()) << " (see arrcoc --help)\n";
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
  try {
    media::register_strategies();
    return dispatch(argc, argv, program);
  } catch (const Error& e) {
    std::cerr << "arrcoc: " << one_line(e.what()) << "\n";
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
