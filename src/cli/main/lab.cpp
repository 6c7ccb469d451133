#include "cli/main/lab.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <iostream>
#include <utility>

namespace arrcoc::cli {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 7> kCommands = {
    {{"eval", "how well are questions answered, and answers covered?"},
     {"bench", "policies compared at equal budgets, with a report"},
     {"synth", "generated pictures with questions and their evidence"},
     {"train", "the trainer of the bundled model"},
     {"label", "text of pictures by OCR, for training"},
     {"clips", "how well do tokens follow generated films?"},
     {"passes", "fit when to look again"}}};

}  // namespace

const char* command_of(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("-", 0) != 0) return argv[i];
    if (word == "--threads") ++i;  // its number follows
  }
  return nullptr;
}

bool is_lab_command(const std::string& word) {
  for (const auto& [name, summary] : kCommands)
    if (word == name) return true;
  return false;
}

std::vector<std::string> lab_commands() {
  std::vector<std::string> out;
  for (const auto& [name, summary] : kCommands) out.emplace_back(name);
  return out;
}

std::string lab_commands_help() {
  std::string out = "The lab (program arrcoc-lab, started by arrcoc):\n";
  for (const auto& [name, summary] : kCommands) {
    const std::string word = name;
    out += "  " + word + std::string(28 - word.size(), ' ') + summary + "\n";
  }
  return out;
}

int start_lab(char** argv, const std::string& command) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto lab = self.parent_path() / "arrcoc-lab";
  if (!failed && ::access(lab.c_str(), X_OK) == 0) ::execv(lab.c_str(), argv);
  std::cerr << "arrcoc: '" << command
            << "' belongs to the lab, and there is no arrcoc-lab beside arrcoc: build it with "
               "./run build, or install the lab\n";
  return 1;
}

}  // namespace arrcoc::cli
