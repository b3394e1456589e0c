# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -P run.cmake
# Installs the build into an empty prefix, builds examples/embed-emulator against
# it, and runs its CTest: it passes, and without the kernel's barrier it fails.
file(REMOVE_RECURSE "${WORK_DIR}")
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out)
  message(STATUS "${out}")
endfunction()
file(COPY "${SOURCE_DIR}/examples/embed-emulator" DESTINATION "${WORK_DIR}")
set(example "${WORK_DIR}/embed-emulator")
step("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix")
# MLIR is not looked for: the PTX machine needs none of it.
step("${CMAKE_COMMAND}" -G Ninja -S "${example}" -B "${WORK_DIR}/build"
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  -DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
step("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
set(test "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${WORK_DIR}/prefix/lib"
  "${CMAKE_CTEST_COMMAND}" --test-dir "${WORK_DIR}/build" --output-on-failure)
step(${test})

file(READ "${example}/reverse-blocks.ptx" kernel)
string(REPLACE "bar.sync 0;" "" broken "${kernel}")
if(kernel STREQUAL broken)
  message(FATAL_ERROR "the kernel has no barrier to take away")
endif()
file(WRITE "${example}/reverse-blocks.ptx" "${broken}")
execute_process(COMMAND ${test} OUTPUT_VARIABLE out RESULT_VARIABLE code)
message(STATUS "${out}")
if(code EQUAL 0 OR NOT out MATCHES "\\[race; kernel reverse_blocks")
  message(FATAL_ERROR "a race did not fail the CTest of embed-emulator")
endif()
