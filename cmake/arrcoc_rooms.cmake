# arrcoc_room(NAME FOLDERS src/a lab/b ... [LINK targets...] [PRECOMPILE header] [REQUIRED])
# A static library arrcoc_NAME from src/a/*.cpp lab/b/*.cpp ...; an interface library when those
# folders hold no sources. Dependencies that are not targets of this build are left out.
function(arrcoc_room name)
  cmake_parse_arguments(ROOM "REQUIRED" "PRECOMPILE" "FOLDERS;LINK" ${ARGN})
  set(sources "")
  foreach(folder IN LISTS ROOM_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  set(links "")
  foreach(link IN LISTS ROOM_LINK)
    if(NOT link MATCHES "^arrcoc_" OR TARGET ${link})
      list(APPEND links ${link})
    endif()
  endforeach()
  set(target arrcoc_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
    if(ROOM_FOLDERS MATCHES "^lab/")  # the product never sees the lab
      target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    endif()
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wall -Wextra -Wno-unknown-pragmas -Wno-missing-field-initializers)
    if(ROOM_PRECOMPILE)
      target_precompile_headers(${target} PRIVATE ${ROOM_PRECOMPILE})
    endif()
  elseif(ROOM_REQUIRED)
    message(FATAL_ERROR "room ${name}: no sources in ${ROOM_FOLDERS}")
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(ARRCOC_CARRIED)
    target_include_directories(${target} SYSTEM ${scope} $<BUILD_INTERFACE:${ARRCOC_CARRIED}>)
  endif()
  target_link_libraries(${target} ${scope} ${links})
  add_library(arrcoc::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY ARRCOC_TARGETS ${target})
endfunction()

# arrcoc_leave_out(TARGET FOLDER NAMES...): those sources of a folder are not compiled.
function(arrcoc_leave_out target folder)
  get_target_property(sources ${target} SOURCES)
  foreach(name IN LISTS ARGN)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${name}.cpp)
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${sources})
endfunction()

# arrcoc_embed(TARGET FOLDER PREFIX HEADER LIST TYPE): compiles the files of a folder into a target;
# see embed.cmake.
function(arrcoc_embed target folder prefix header list type)
  string(MAKE_C_IDENTIFIER ${folder} name)
  set(out ${CMAKE_BINARY_DIR}/generated/embedded_${name}.cpp)
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed.cmake)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*)
  add_custom_command(OUTPUT ${out} DEPENDS ${files} ${script} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/${folder}
      -DPREFIX=${prefix} -DHEADER=${header} -DLIST=${list} -DTYPE=${type} -P ${script})
  target_sources(${target} PRIVATE ${out})
endfunction()
