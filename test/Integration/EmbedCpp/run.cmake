# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DPYTHON=... -P run.cmake
# Installs the build into an empty prefix, builds examples/embed-cpp against it,
# runs the program, and checks what it made.
file(REMOVE_RECURSE "${WORK_DIR}")
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out)
  message(STATUS "${out}")
endfunction()
set(example "${SOURCE_DIR}/examples/embed-cpp")
step("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix")
step("${CMAKE_COMMAND}" -G Ninja -S "${example}" -B "${WORK_DIR}/build"
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
step("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${WORK_DIR}/prefix/lib"
    "${WORK_DIR}/build/embed" "${example}/layer.mlir" "${WORK_DIR}/kernel.ptx"
  OUTPUT_FILE "${WORK_DIR}/layer.mlir" COMMAND_ERROR_IS_FATAL ANY)
step("${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/check.py"
  "${BUILD_DIR}/bin/fa-ptx-emu" "${WORK_DIR}/layer.mlir" "${WORK_DIR}/kernel.ptx"
  "${WORK_DIR}")
