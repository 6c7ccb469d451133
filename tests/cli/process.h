// Runs the real program and keeps what it said.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "folder.h"
#include "places.h"

namespace arrcoc::test {

struct Outcome {
  int code = -1;  // 128 + signal when it was killed
  std::string out;
  std::string err;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Arguments are given as one shell line; `before` may pipe something in ("cat x |").
inline Outcome run_arrcoc(const std::string& arguments, const std::string& before = "") {
  Folder folder;
  const std::string line = before + " " + places::program() + " " + arguments + " >" +
                           folder / "out" + " 2>" + folder / "err";
  const int status = std::system(line.c_str());
  Outcome o;
  o.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  o.out = slurp(folder / "out");
  o.err = slurp(folder / "err");
  return o;
}

}  // namespace arrcoc::test
