# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DCC=... -P run.cmake
# Installs the build into an empty prefix, builds examples/embed-c against it by
# CMake and by the plain line that its CMakeLists.txt gives, and runs both.
file(REMOVE_RECURSE "${WORK_DIR}")
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE out)
  message(STATUS "${out}")
  set(output "${out}" PARENT_SCOPE)
endfunction()
set(example "${SOURCE_DIR}/examples/embed-c")
set(prefix "${WORK_DIR}/prefix")
step("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
step("${CMAKE_COMMAND}" -G Ninja -S "${example}" -B "${WORK_DIR}/build"
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${prefix}"
  "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -pedantic")
step("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
step("${CC}" -std=c11 -Wall -Wextra -Werror -pedantic "-I${prefix}/include"
  "${example}/main.c" "-L${prefix}/lib" -lFA-C "-Wl,-rpath,${prefix}/lib"
  -o "${WORK_DIR}/plain")
foreach(program "${WORK_DIR}/build/embed-c" "${WORK_DIR}/plain")
  step("${program}")
  if(NOT output MATCHES "100 queries, 150 keys: right" OR
     NOT output MATCHES "7 queries, 300 keys: right")
    message(FATAL_ERROR "${program} did not say that its results are right")
  endif()
endforeach()
execute_process(COMMAND "${WORK_DIR}/plain" sm_1 RESULT_VARIABLE code
  ERROR_VARIABLE err)
if(NOT code EQUAL 2 OR NOT err MATCHES "argument: target")
  message(FATAL_ERROR "an unknown target gave code ${code}: ${err}")
endif()
# A stranger's libraries stay out of the loader's sight.
execute_process(COMMAND ldd "${prefix}/lib/libFA-C.so" OUTPUT_VARIABLE libraries
  COMMAND_ERROR_IS_FATAL ANY)
if(libraries MATCHES "libLLVM|libMLIR")
  message(FATAL_ERROR "libFA-C brings a shared LLVM:\n${libraries}")
endif()
