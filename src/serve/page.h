// Files of web/ inside the binary; src made by cmake/embed.cmake.
#pragma once

#include <cstddef>
#include <vector>

namespace arrcoc::serving {

struct PageFile {
  const char* path;
  const char* type;
  const unsigned char* data;
  size_t size;
};
const std::vector<PageFile>& page_files();

}  // namespace arrcoc::serving
