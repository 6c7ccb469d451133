// arrcoc doctor: what works on this machine, what does not, and what to do about it.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <arpa/inet.h>
#include <sys/socket.h>
#include <torch/version.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#ifdef ARRCOC_HAVE_OPENCV
#include <opencv2/core.hpp>
#endif

#include "arrcoc/error.h"
#include "arrcoc/version.h"
#include "base/join.h"
#include "cli/terminal.h"

namespace arrcoc::cli {

namespace {

namespace fs = std::filesystem;

enum class State { ok, note, problem };  // note: works, but not as well as it could

struct Check {
  std::string name;
  State state = State::ok;
  std::string found, remedy;
};

struct Doctor {
  int port = 8080;
  bool json = false;
};

std::string example(const char* name) {
  const fs::path bundle = find_bundle();
  const fs::path picture = bundle.parent_path().parent_path() / "examples" / "pictures" / name;
  std::error_code failed;
  return !bundle.empty() && fs::is_regular_file(picture, failed) ? picture.string() : "";
}

// What `check` finds, or the problem that it throws.
Check checked(const char* name, const char* remedy, const std::function<Check()>& check) {
  Check out;
  try {
    out = check();
  } catch (const std::exception& problem) {
    out = {"", State::problem, problem.what(), ""};
  }
  out.name = name;
  if (out.remedy.empty() && out.state != State::ok) out.remedy = remedy;
  return out;
}

Check libraries() {
#ifdef ARRCOC_HAVE_OPENCV
  const std::string running = cv::getVersionString(), built = CV_VERSION;
  Check out{"", State::ok, std::string("libtorch ") + TORCH_VERSION + ", OpenCV " + running, ""};
  if (running.substr(0, 3) != built.substr(0, 3)) {
    out.state = State::problem;
    out.found += ", built for " + built;
  }
  return out;
#else
  return {"", State::note, std::string("libtorch ") + TORCH_VERSION + ", no OpenCV, no Tesseract",
          "build with ARRCOC_MEDIA=ON for films, OCR, drawings and the example log"};
#endif
}

Check instructions() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) found.emplace_back("SSE4.2");
  if (__builtin_cpu_supports("avx2")) found.emplace_back("AVX2");
  if (__builtin_cpu_supports("fma")) found.emplace_back("FMA");
  if (__builtin_cpu_supports("avx512f")) found.emplace_back("AVX-512");
  const bool fast = __builtin_cpu_supports("avx2") != 0;
#else
  found.emplace_back("those of this architecture");
  const bool fast = true;
#endif
  return {"", fast ? State::ok : State::note,
          joined(found) + "; " + std::to_string(at::get_num_threads()) +
              (at::get_num_threads() == 1 ? " thread" : " threads"),
          ""};
}

Check device() {
  const bool cuda = at::hasCUDA();
  return {"", State::ok, cuda ? "CUDA and CPU" : "CPU (libtorch without CUDA)", ""};
}

Check model() {
  const auto loaded = bundle();
  Check out{"", State::ok, loaded->folder, ""};
  if (loaded->stale) {
    out.state = State::note;
    out.found += ": its calibration was fitted for other weights";
    out.remedy = "arrcoc eval --calibrate";
  }
  return out;
}

Check answers() {
  const std::string picture = example("receipt.jpg");
  if (picture.empty())
    return {"", State::note, "no example pictures beside the model", "install them (examples/)"};
  const Answer answer = Asker(bundle()).ask(media::load(picture), "What is the total?");
  return {"", answer.text.empty() ? State::problem : State::ok,
          "\"What is the total?\" of receipt.jpg: " + answer.text, ""};
}

Check decoders() {
  media::Decoders apart;
  apart.warm_up();
#ifdef ARRCOC_HAVE_OPENCV
  const fs::path film = fs::path(apart.limits().program).parent_path() / "arrcoc-decode-film";
  if (::access(film.c_str(), X_OK) != 0)
    return {"", State::problem, "there is no " + film.string(), ""};
#endif
  const std::string free = apart.unconfined();
  return {"", free.empty() ? State::ok : State::note,
          apart.limits().program + (free.empty() ? "" : ": " + free),
          free.empty() ? "" : "a newer kernel, or seccomp and Landlock switched on"};
}

Check print_reader() {
  const at::Tensor page = at::full({3, 32, 64}, 255, at::kByte);
  media::tesseract()->read(make_picture(page));
  return {"", State::ok, "Tesseract reads English", ""};
}

Check page_port(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) throw Error(ErrorCode::io, std::string("no socket: ") + std::strerror(errno));
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free =
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int why = errno;
  ::close(socket);
  const std::string name = "127.0.0.1:" + std::to_string(port);
  if (!free)
    return {"", State::problem, name + ": " + std::strerror(why),
            why == EACCES ? "ports below 1024 are the system's: take a higher one" : ""};
  return {"", State::ok, name + " is free", ""};
}

// Really writes: a file system may be mounted read-only, or be full.
Check writes(const fs::path& folder) {
  const fs::path file = folder / (".arrcoc-doctor-" + std::to_string(::getpid()));
  media::write_file(file.string(), std::vector<uint8_t>(4096, 0));
  std::error_code ignored;
  fs::remove(file, ignored);
  return {"", State::ok, fs::weakly_canonical(folder).string(), ""};
}

std::vector<Check> examine(const Doctor& args) {
  return {
      checked("libraries", "rebuild against the installed libraries: ./run build", libraries),
      checked("instructions", "answers take longer without AVX2: use a newer processor",
              instructions),
      checked("device", "", device),
      checked("model", "install models/tiny, or name its parent: ARRCOC_MODELS=FOLDER", model),
      checked("answers", "the model is damaged: install it again", answers),
      checked("decoders", "build or install arrcoc-decode and arrcoc-decode-film beside arrcoc",
              decoders),
      checked("reader", "apt-get install tesseract-ocr-eng, for the policy reader",
              [] {
                try {
                  return print_reader();
                } catch (const std::exception& problem) {  // only one policy needs it
                  return Check{"", State::note, problem.what(), ""};
                }
              }),
      checked("port", "another program has it: arrcoc serve --port NUMBER",
              [&] { return page_port(args.port); }),
      checked("folder", "go to a folder of your own: pictures and reports are written there",
              [] { return writes("."); }),
      checked("temporary", "set TMPDIR to a folder that can be written",
              [] { return writes(fs::temp_directory_path()); }),
  };
}

const char* state_name(State state) {
  return state == State::ok ? "ok" : state == State::note ? "note" : "problem";
}

void print(const std::vector<Check>& checks) {
  const bool coloured = coloured_output();
  for (const Check& check : checks) {
    std::string state = state_name(check.state);
    state.resize(8, ' ');
    if (coloured) {
      const int colour = check.state == State::ok ? 32 : check.state == State::note ? 33 : 31;
      write_raw("\033[" + std::to_string(colour) + "m" + state + "\033[0m");
    } else {
      std::cout << state;
    }
    std::cout << check.name << std::string(14 - check.name.size(), ' ') << check.found << "\n";
    if (!check.remedy.empty()) std::cout << std::string(22, ' ') << "-> " << check.remedy << "\n";
  }
}

void doctor(const Doctor& args) {
  const std::vector<Check> checks = examine(args);
  size_t problems = 0;
  auto list = ordered_json::array();
  for (const Check& check : checks) {
    problems += check.state == State::problem ? 1 : 0;
    list.push_back({{"name", check.name},
                    {"state", state_name(check.state)},
                    {"found", check.found},
                    {"remedy", check.remedy}});
  }
  if (args.json) {
    std::cout << ordered_json{{"version", kVersion}, {"ok", problems == 0}, {"checks", list}}.dump()
              << "\n";
  } else {
    print(checks);
  }
  if (problems > 0)
    throw Error(ErrorCode::io, std::to_string(problems) +
                                   (problems == 1 ? " problem was found" : " problems were found"));
}

// As a shell takes it.
std::string quoted(const std::string& word) {
  if (word.find_first_not_of(
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-") ==
      std::string::npos)
    return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string welcome() {
  const auto picture = [](const char* name) {
    const std::string path = example(name);
    if (path.empty()) return std::string(name);
    std::error_code failed;
    const std::string near = fs::proximate(path, failed).string();
    return quoted(!failed && near.size() < path.size() ? near : path);
  };
  return "ARR-COC answers questions about pictures with the few visual tokens that each needs.\n"
         "Three commands to try:\n\n"
         "  arrcoc ask " +
         picture("receipt.jpg") +
         " \"What is the total?\" --show\n"
         "  arrcoc look " +
         picture("street.jpg") +
         " \"What does the sign say?\" --show\n"
         "  arrcoc ask " +
         picture("chart.jpg") +
         " \"What is the highest value?\" --passes auto\n\n"
         "arrcoc serve opens a page in the browser, arrcoc doctor checks this installation,\n"
         "arrcoc --help lists all commands.\n";
}

void add_doctor(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("doctor", "what works here, and what to do about the rest");
  auto args = std::make_shared<Doctor>();
  sub->add_option("--port", args->port, "port that the page is to have")
      ->check(CLI::Range(1, 65535));
  sub->add_flag("--json", args->json, "print as JSON");
  sub->callback([args] { doctor(*args); });
}

}  // namespace arrcoc::cli
