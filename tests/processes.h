// What /proc says about processes.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace arrcoc::test {

// Sanitizers need memory, addresses and system calls of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

inline std::string status_line(pid_t process, const std::string& key) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(key + ":", 0) == 0) return line.substr(key.size() + 1);
  return "0";
}

// The most memory that a process ever had, and what it has.
inline long peak_kb(pid_t process) { return std::stol(status_line(process, "VmHWM")); }
inline long resident_kb(pid_t process) { return std::stol(status_line(process, "VmRSS")); }

// Children of a process that run a program of this name and are not dead.
inline std::vector<pid_t> children_named(const std::string& name, pid_t parent = ::getpid()) {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string number = entry.path().filename().string();
    if (!std::isdigit(static_cast<unsigned char>(number[0]))) continue;
    const pid_t process = std::stoi(number);
    if (std::stol(status_line(process, "PPid")) != parent) continue;
    if (status_line(process, "Name") != "\t" + name) continue;
    if (status_line(process, "State").find('Z') == std::string::npos) out.push_back(process);
  }
  return out;
}

}  // namespace arrcoc::test
