#===- FATesting.cmake - how lit and pytest tests reach CTest --------------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CTest drives everything, so its closing line counts all that ran: GoogleTest
# cases by gtest_discover_tests (AddFA.cmake), each lit file and each pytest
# file as one test here. A missing tool leaves its tests out with a message, so
# that the rest of the tree can be tested without it; ./fa installs them all.
#===-----------------------------------------------------------------------===#

# The interpreter of the virtual environment that ./fa makes, else the system's.
set(FA_PYTHON "" CACHE FILEPATH "Python for tests; empty: the venv of ./fa, else python3")
set(FA_PYTHON_EXECUTABLE "${FA_PYTHON}")
foreach(candidate "${PROJECT_BINARY_DIR}/venv/bin/python"
                  "${PROJECT_SOURCE_DIR}/build/venv/bin/python")
  if(NOT FA_PYTHON_EXECUTABLE AND EXISTS "${candidate}")
    set(FA_PYTHON_EXECUTABLE "${candidate}")
  endif()
endforeach()
if(NOT FA_PYTHON_EXECUTABLE)
  find_program(FA_SYSTEM_PYTHON python3)
  if(FA_SYSTEM_PYTHON)
    set(FA_PYTHON_EXECUTABLE "${FA_SYSTEM_PYTHON}")
  endif()
endif()

# lit and FileCheck come with LLVM's tools; a build without MLIR uses them too.
set(FA_LLVM_BIN "/usr/lib/llvm-22/bin" CACHE PATH "Folder of lit, FileCheck, not, mlir-opt")
if(LLVM_TOOLS_BINARY_DIR)
  set(FA_LLVM_BIN "${LLVM_TOOLS_BINARY_DIR}")
endif()
find_program(FA_LIT NAMES lit HINTS "${FA_LLVM_BIN}")
find_program(FA_FILECHECK NAMES FileCheck HINTS "${FA_LLVM_BIN}" NO_DEFAULT_PATH)

set(FA_HAVE_PYTEST FALSE)
if(FA_PYTHON_EXECUTABLE)
  execute_process(COMMAND "${FA_PYTHON_EXECUTABLE}" -c "import pytest"
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(FA_HAVE_PYTEST TRUE)
  endif()
endif()
if(NOT FA_HAVE_PYTEST)
  message(STATUS "pytest not found: Python tests are left out")
endif()

# fa_add_lit_tests(SOURCE_DIR BINARY_DIR)
# One CTest test for each lit file below SOURCE_DIR, named by its path. A file
# with "REQUIRES: long" gets the label "long", which the default run excludes;
# a file whose REQUIRES are not met counts as skipped.
function(fa_add_lit_tests source_dir binary_dir)
  if(NOT FA_LIT OR NOT FA_FILECHECK OR NOT FA_PYTHON_EXECUTABLE)
    message(STATUS "lit or FileCheck not found (llvm-22-tools): lit tests are left out")
    return()
  endif()
  file(GLOB_RECURSE files RELATIVE "${source_dir}" CONFIGURE_DEPENDS
    "${source_dir}/*.mlir" "${source_dir}/*.ptx" "${source_dir}/*.test")
  foreach(file IN LISTS files)
    if(file MATCHES "(^|/)Inputs/")
      continue()
    endif()
    set(name "lit/${file}")
    set(labels lit)
    file(STRINGS "${source_dir}/${file}" requires_long REGEX "REQUIRES:.*[ ,]long" LIMIT_COUNT 1)
    if(requires_long)
      list(APPEND labels long)
    endif()
    add_test(NAME "${name}" COMMAND "${FA_PYTHON_EXECUTABLE}" "${FA_LIT}" -v -j1
      --no-progress-bar -Dlong=1 "${binary_dir}/${file}")
    set_tests_properties("${name}" PROPERTIES LABELS "${labels}"
      SKIP_REGULAR_EXPRESSION "UNSUPPORTED: " TIMEOUT 600)
  endforeach()
endfunction()

# fa_add_pytest(NAME FILE [LABELS ...]): one pytest file as one CTest test.
function(fa_add_pytest name file)
  cmake_parse_arguments(ARG "" "" "LABELS" ${ARGN})
  if(NOT FA_HAVE_PYTEST)
    return()
  endif()
  add_test(NAME "${name}" COMMAND "${FA_PYTHON_EXECUTABLE}" -m pytest -q
    -p no:cacheprovider "${file}")
  set_tests_properties("${name}" PROPERTIES LABELS "python;${ARG_LABELS}"
    SKIP_RETURN_CODE 5 TIMEOUT 600
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;FA_BUILD_DIR=${PROJECT_BINARY_DIR}")
endfunction()
