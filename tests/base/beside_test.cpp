#include "base/beside.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace arrcoc {
namespace {

namespace fs = std::filesystem;

TEST(Beside, RunsNothingThatAStrangerPutThere) {
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path name = "planted-" + std::to_string(::getpid()), file = here / name;
  const auto found = [&] {
    return find_beside({name}, [](const fs::path& path) { return fs::exists(path); });
  };
  EXPECT_EQ(found(), fs::path());
  std::ofstream(file) << "#!/bin/sh\n";
  EXPECT_EQ(found(), file);
  if (::getuid() == 0) {  // can make another its owner
    EXPECT_EQ(::chown(file.c_str(), 65534, 65534), 0);
    EXPECT_EQ(found(), fs::path());
  }
  fs::remove(file);
}

}  // namespace
}  // namespace arrcoc
