// The head of an HTTP/1.1 request: found and judged before anything else reads it.
#pragma once

#include <string>
#include <string_view>

namespace arrcoc::serving {

struct HeadLimits {
  size_t line = 8000;    // bytes of the request line, and of every field
  size_t bytes = 32768;  // of the whole head
  size_t fields = 100;
};

struct RequestHead {
  std::string path;  // without its query, as it was sent
  bool bodiless = true, chunked = false;
  // What httplib gets to read. It takes fields apart that it should leave alone: values keep their
  // percent signs, and Range, which is answered by nobody here, is called X-Arrcoc-Range. It reads
  // to the end of the connection where no length is given: then there is one of 0.
  std::string text;
};

// Bytes up to and with the empty line that ends a head; 0 while it has not come. Line ends before
// the request line are part of it. `from`: where the last search of the same bytes ended.
// ApiError{414, 431} as soon as it is too long to come.
size_t head_size(std::string_view bytes, const HeadLimits& limits, size_t from = 0);
// ApiError{400, 414, 431, 501, 505} for a head that two readers might understand differently: a
// length and chunks, two lengths, folded or nameless fields, lone line ends, control characters.
RequestHead judge_head(std::string_view head, const HeadLimits& limits);

}  // namespace arrcoc::serving
