# cmake --install puts headers, libraries and a package file in place: find_package(arrcoc) then
# offers arrcoc::core and, where built, arrcoc::models, arrcoc::media, arrcoc::c, ... Nothing of it knows
# where it lies: the prefix may be moved. Components are packages (arrcoc_packages.cmake).
include(CMakePackageConfigHelpers)
get_property(targets GLOBAL PROPERTY ARRCOC_TARGETS)
list(REMOVE_ITEM targets arrcoc_cli arrcoc_lab_cli)
if(TARGET arrcoc_c)
  list(APPEND targets arrcoc_c)
endif()
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/arrcoc)
install(TARGETS ${targets} EXPORT arrcoc
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/arrcoc ${CMAKE_BINARY_DIR}/generated/arrcoc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")
install(DIRECTORY models/tiny DESTINATION ${CMAKE_INSTALL_DATADIR}/arrcoc/models COMPONENT model OPTIONAL)
install(DIRECTORY assets/ DESTINATION ${CMAKE_INSTALL_DATADIR}/arrcoc/assets COMPONENT lab)
install(EXPORT arrcoc NAMESPACE arrcoc:: FILE arrcocTargets.cmake DESTINATION ${config} COMPONENT development)
install(DIRECTORY examples/pictures DESTINATION ${CMAKE_INSTALL_DATADIR}/arrcoc/examples COMPONENT product)
configure_package_config_file(cmake/arrcocConfig.cmake.in ${CMAKE_BINARY_DIR}/arrcocConfig.cmake
  INSTALL_DESTINATION ${config})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/arrcocConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/arrcocConfig.cmake ${CMAKE_BINARY_DIR}/arrcocConfigVersion.cmake
  cmake/FindOneDNN.cmake DESTINATION ${config} COMPONENT development)
