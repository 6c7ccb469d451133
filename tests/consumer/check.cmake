# Installs the build into a fresh prefix, then configures, builds and runs a separate tiny project
# that only knows find_package(arrcoc).
file(REMOVE_RECURSE ${WORK})
function(must)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE rc OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT rc EQUAL 0)
    message(FATAL_ERROR "failed (${rc}): ${ARGV}\n${out}")
  endif()
endfunction()
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
must(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${CMAKE_COMMAND} -E env ARRCOC_MODELS=${WORK}/prefix/share/arrcoc/models ${WORK}/build/consumer)
must(${WORK}/prefix/bin/arrcoc info)
