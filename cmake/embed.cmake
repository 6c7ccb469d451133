# cmake -DOUT=file.cpp -DFOLDER=web -P embed.cmake: the page's files as bytes in a C++ source.
set(names index.html page.css page.js openapi.json)
set(paths / /page.css /page.js /openapi.json)
set(types text/html text/css text/javascript application/json)
set(arrays "")
set(entries "")
foreach(i RANGE 3)
  list(GET names ${i} name)
  list(GET paths ${i} path)
  list(GET types ${i} type)
  if(type MATCHES "^text/")
    string(APPEND type "; charset=utf-8")
  endif()
  file(READ ${FOLDER}/${name} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${i}[] = {${bytes}};\n")
  string(APPEND entries "      {\"${path}\", \"${type}\", kFile${i}, sizeof kFile${i}},\n")
endforeach()
file(WRITE ${OUT} "// Written by cmake/embed.cmake from web/.
#include \"serve/page.h\"

namespace arrcoc::serving {
namespace {
${arrays}}  // namespace
const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> files = {
${entries}  };
  return files;
}
}  // namespace arrcoc::serving
")
