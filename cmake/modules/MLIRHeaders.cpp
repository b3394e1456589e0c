//===- MLIRHeaders.cpp - carrier of the precompiled MLIR headers ----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CMake builds a precompiled header for a target with sources; this is one. Its
// libraries reuse the header (AddFA.cmake).
//===----------------------------------------------------------------------===//
