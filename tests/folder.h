// A place for files of a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace arrcoc::test {

// A fresh folder that goes away with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "arrcoc_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// An empty place of that name, in a folder of this process that goes away with it. Tests run side
// by side, and so do checkouts.
inline std::string fresh_folder(const std::string& name) {
  static const Folder all;
  std::filesystem::remove_all(all / name);
  return all / name;
}

}  // namespace arrcoc::test
