# cmake --install puts headers, libraries and a package file in place: find_package(arrcoc) then
# offers arrcoc::core and, where built, arrcoc::models, arrcoc::media, ...
include(CMakePackageConfigHelpers)
get_property(targets GLOBAL PROPERTY ARRCOC_TARGETS)
list(REMOVE_ITEM targets arrcoc_cli arrcoc_lab_cli)
install(TARGETS ${targets} EXPORT arrcoc ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/arrcoc ${CMAKE_BINARY_DIR}/generated/arrcoc
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY models/tiny models/baselines DESTINATION ${CMAKE_INSTALL_DATADIR}/arrcoc/models OPTIONAL)
install(EXPORT arrcoc NAMESPACE arrcoc:: FILE arrcocTargets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arrcoc)
install(DIRECTORY assets/ DESTINATION ${CMAKE_INSTALL_DATADIR}/arrcoc/assets)
configure_package_config_file(cmake/arrcocConfig.cmake.in ${CMAKE_BINARY_DIR}/arrcocConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arrcoc)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/arrcocConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/arrcocConfig.cmake ${CMAKE_BINARY_DIR}/arrcocConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/arrcoc)
