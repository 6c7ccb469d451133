// A file that cmake/embed.cmake wrote into the library: its bytes live as long as the program.
#pragma once

#include <cstddef>

namespace arrcoc {

struct EmbeddedFile {
  const char* path;
  const char* type;  // MIME
  const unsigned char* data;
  size_t size;
};

}  // namespace arrcoc
