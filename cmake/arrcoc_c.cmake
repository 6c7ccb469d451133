# arrcoc_c: the C interface (arrcoc/c.h) as a shared library that exports nothing else.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/capi/*.cpp)
set(exports ${PROJECT_SOURCE_DIR}/src/capi/exports.map)
add_library(arrcoc_c SHARED ${sources})
set_target_properties(arrcoc_c PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  EXPORT_NAME c LINK_DEPENDS ${exports})
target_link_libraries(arrcoc_c PRIVATE arrcoc_media arrcoc_hub arrcoc_hf arrcoc_tiny)
# Of arrcoc_hub the cache, not the network: as needed.
target_link_options(arrcoc_c PRIVATE LINKER:--as-needed LINKER:--version-script=${exports})
if(NOT ARRCOC_SANITIZE)  # sanitizers come with the program
  target_link_options(arrcoc_c PRIVATE LINKER:--no-undefined)
endif()
target_include_directories(arrcoc_c PRIVATE ${PROJECT_SOURCE_DIR}/src
  INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_options(arrcoc_c PRIVATE -Wall -Wextra -Wno-unknown-pragmas)
add_library(arrcoc::c ALIAS arrcoc_c)
