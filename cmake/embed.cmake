# cmake -DOUT=file.cpp -DFOLDER=web -DPREFIX=/ -DHEADER=serve/page.h
#   -DLIST=arrcoc::serving::page_files -DTYPE=PageFile -P embed.cmake
# The files of a folder as bytes in a C++ source: LIST() gives them as TYPE{path, MIME type, bytes,
# size}, sorted by name. The path is PREFIX and the name; index.html has PREFIX alone.
file(GLOB names RELATIVE ${FOLDER} ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js ${FOLDER}/*.json ${FOLDER}/*.txt)
list(SORT names)
set(type_html "text/html; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_json "application/json")
set(type_txt "text/plain; charset=utf-8")
string(REGEX REPLACE "::[^:]*$" "" namespace ${LIST})
string(REGEX REPLACE "^.*::" "" function ${LIST})
set(arrays "")
set(entries "")
set(i 0)
foreach(name IN LISTS names)
  string(REGEX REPLACE "^.*\\." "" ending ${name})
  string(REGEX REPLACE "^index\\.html$" "" path ${name})
  file(READ ${FOLDER}/${name} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${i}[] = {${bytes}};\n")
  string(APPEND entries "      {\"${PREFIX}${path}\", \"${type_${ending}}\", kFile${i}, sizeof kFile${i}},\n")
  math(EXPR i "${i} + 1")
endforeach()
file(WRITE ${OUT} "// Written by cmake/embed.cmake from ${FOLDER}.
#include \"${HEADER}\"

namespace ${namespace} {
namespace {
${arrays}}  // namespace
const std::vector<${TYPE}>& ${function}() {
  static const std::vector<${TYPE}> files = {
${entries}  };
  return files;
}
}  // namespace ${namespace}
")
