#===- FAInstall.cmake - the install tree that find_package(FA) reads ------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Included last: every library and tool declared by AddFA.cmake is installed,
# with the public headers (and the generated ones beside them) under include/fa.
# Targets come back as FA::FASupport and so on.
#===-----------------------------------------------------------------------===#
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY FA_LIBRARIES)
get_property(tools GLOBAL PROPERTY FA_TOOLS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/FA")

install(TARGETS ${libraries} EXPORT FATargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(tools)
  install(TARGETS ${tools} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${PROJECT_BINARY_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "*.td" PATTERN "*.def"
  PATTERN "CMakeFiles" EXCLUDE)

install(EXPORT FATargets NAMESPACE FA:: DESTINATION "${package_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/FAConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/FAConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/cmake/FAConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cmake/FAConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/FAConfigVersion.cmake"
  DESTINATION "${package_dir}")
