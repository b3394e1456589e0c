# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -P run.cmake
# Installs the build into an empty prefix, starts each tool there, builds the
# project beside this file against it, and runs the program.
file(REMOVE_RECURSE "${WORK_DIR}")
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out)
  message(STATUS "${out}")
endfunction()
step("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix")
file(GLOB tools "${WORK_DIR}/prefix/bin/*")
if(NOT tools)
  message(FATAL_ERROR "no tool is installed")
endif()
foreach(tool IN LISTS tools)
  step("${tool}" --version)
endforeach()
step("${CMAKE_COMMAND}" -G Ninja -S "${SOURCE_DIR}" -B "${WORK_DIR}/build"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
step("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
step("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${WORK_DIR}/prefix/lib"
  "${WORK_DIR}/build/uses-fa")
