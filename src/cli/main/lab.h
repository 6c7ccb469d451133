// The lab is a program of its own, arrcoc-lab; `arrcoc eval` and the like start it.
#pragma once

#include <string>
#include <vector>

namespace arrcoc::cli {

// The first word that is no flag; null without one.
const char* command_of(int argc, char** argv);
bool is_lab_command(const std::string& word);
std::vector<std::string> lab_commands();
std::string lab_commands_help();  // for the help of arrcoc
// Becomes arrcoc-lab with the same arguments; returns an exit code only when that cannot be.
int start_lab(char** argv, const std::string& command);

}  // namespace arrcoc::cli
