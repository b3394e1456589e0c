#===- AddFA.cmake - how a library, a tool and a unit test are declared ----===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every library lists what it links; utils/check-layering.py checks that no
# library includes what its layer may not (docs/Overview.md has the table).
#===-----------------------------------------------------------------------===#
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Release keeps our assertions: they guard invariants, never a user's input.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

find_program(FA_CCACHE ccache)
if(FA_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${FA_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${FA_CCACHE}")
endif()
# lld links in a tenth of the time; it is used when found, never required.
find_program(FA_LLD NAMES ld.lld HINTS /usr/lib/llvm-22/bin NO_DEFAULT_PATH)
if(FA_LLD)
  get_filename_component(FA_LLD_DIR "${FA_LLD}" DIRECTORY)
  add_link_options("-fuse-ld=lld" "-B${FA_LLD_DIR}")
endif()

if(FA_SANITIZERS)
  add_compile_options("-fsanitize=${FA_SANITIZERS}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${FA_SANITIZERS}")
endif()
# What a fuzzer of unittests/Fuzz can see of the code that it tries.
if(FA_ENABLE_FUZZING)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# Warnings for our own code; headers of others are SYSTEM includes.
add_library(FAWarnings INTERFACE)
target_compile_options(FAWarnings INTERFACE -Wall -Wextra -Wno-unused-parameter
  $<$<BOOL:${FA_ENABLE_WERROR}>:-Werror>)

# Parsing MLIR's headers is nearly all of the cost of a file that includes them
# (10 s of 12); parsed once, a file costs 3 s. Off: every file must stand alone.
option(FA_PRECOMPILED_HEADERS "Precompile the MLIR headers that most files use" ON)
function(fa_precompile_mlir_headers)
  if(NOT FA_PRECOMPILED_HEADERS)
    return()
  endif()
  add_library(FAMLIRHeaders STATIC "${PROJECT_SOURCE_DIR}/cmake/modules/MLIRHeaders.cpp")
  target_include_directories(FAMLIRHeaders SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_options(FAMLIRHeaders PRIVATE -fno-exceptions)
  target_link_libraries(FAMLIRHeaders PRIVATE FAWarnings)
  target_precompile_headers(FAMLIRHeaders PRIVATE
    <mlir/Dialect/Arith/IR/Arith.h>
    <mlir/Dialect/Func/IR/FuncOps.h>
    <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h>
    <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/MemRef/IR/MemRef.h>
    <mlir/Dialect/SCF/IR/SCF.h>
    <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/IR/ImplicitLocOpBuilder.h>
    <mlir/IR/PatternMatch.h>
    <mlir/Pass/PassManager.h>)
endfunction()

# fa_add_library(NAME [MLIR] SOURCES a.cpp ... LINK Lib ... [DEPENDS target ...])
# MLIR: the library touches MLIR or LLVM (headers as SYSTEM, no exceptions).
# The shared libraries MLIR and LLVM are linked by tools, not by libraries, so
# that a plugin can leave their symbols to the host. With BUILD_SHARED_LIBS (the
# preset `shared`) they are, and the linker refuses what a LINK list lacks.
function(fa_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  if(BUILD_SHARED_LIBS)
    add_library(${name} SHARED ${ARG_SOURCES})
    target_link_options(${name} PRIVATE "LINKER:-z,defs")
    if(ARG_MLIR)
      target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:MLIR> $<BUILD_INTERFACE:LLVM>)
    endif()
  else()
    add_library(${name} STATIC ${ARG_SOURCES})
  endif()
  add_library(FA::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:FAWarnings>)
  if(ARG_MLIR)
    target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_compile_options(${name} PRIVATE -fno-exceptions)
    if(FA_PRECOMPILED_HEADERS)
      target_precompile_headers(${name} REUSE_FROM FAMLIRHeaders)
    endif()
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY FA_LIBRARIES ${name})
endfunction()

# All archives of MLIR and LLVM in `result`, of which a link takes what it needs;
# empty when they are not installed. CMake's targets of MLIR's archives would
# bring the shared LLVM, so these are files.
function(fa_find_static_mlir result)
  set(files "")
  get_property(mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
  foreach(library IN LISTS mlir_libs LLVM_AVAILABLE_LIBS)
    set(file "${LLVM_LIBRARY_DIR}/lib${library}.a")
    if(EXISTS "${file}")
      list(APPEND files "${file}")
    endif()
  endforeach()
  if(NOT EXISTS "${LLVM_LIBRARY_DIR}/libMLIRIR.a" OR
     NOT EXISTS "${LLVM_LIBRARY_DIR}/libLLVMNVPTXCodeGen.a")
    set(files "")
  endif()
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

# Links MLIR and LLVM into a shared library of ours, out of everybody's sight.
# Without archives, or in a build of shared libraries, they are shared.
function(fa_link_static_mlir name)
  fa_find_static_mlir(archives)
  if(archives AND NOT BUILD_SHARED_LIBS)
    # LLVM's archives want them; LLVM's package has them without their headers.
    find_library(FA_ZLIB NAMES z libz.so.1 REQUIRED)
    find_library(FA_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
    target_link_libraries(${name} PRIVATE "-Wl,--start-group" ${archives}
      "-Wl,--end-group" "${FA_ZLIB}" "${FA_ZSTD}" ${CMAKE_DL_LIBS})
  else()
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
endfunction()

# fa_add_tool(NAME [MLIR] SOURCES ... LINK ...)
function(fa_add_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} $<BUILD_INTERFACE:FAWarnings>)
  if(ARG_MLIR)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    target_compile_options(${name} PRIVATE -fno-exceptions)
  endif()
  set_property(GLOBAL APPEND PROPERTY FA_TOOLS ${name})
endfunction()

# fa_add_benchmark(NAME SOURCES ... LINK ...): a program that utils/bench.py
# runs. It is built with the rest, so that it keeps compiling; no test runs it.
function(fa_add_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name}-benchmark ${ARG_SOURCES})
  target_link_libraries(${name}-benchmark PRIVATE ${ARG_LINK} $<BUILD_INTERFACE:FAWarnings>)
  set_target_properties(${name}-benchmark PROPERTIES OUTPUT_NAME ${name}
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
endfunction()

# fa_add_unittest(NAME SOURCES ... LINK ... [LABELS ...])
function(fa_add_unittest name)
  cmake_parse_arguments(ARG "MLIR" "PREFIX" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main $<BUILD_INTERFACE:FAWarnings>)
  if(ARG_MLIR)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/unittests")
  # ctest matches labels by expressions, and gtest_discover_tests cannot pass a
  # list on: "unit-long" is found by -L unit and by -L long.
  string(JOIN "-" label unit ${ARG_LABELS})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES
    TEST_PREFIX "${ARG_PREFIX}"
    PROPERTIES LABELS "${label}")
endfunction()
