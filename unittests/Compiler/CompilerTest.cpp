//===- CompilerTest.cpp - the door to the compiler ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A user's mistakes come back as errors with a place in the user's file.
//
//===----------------------------------------------------------------------===//
#include "fa/Compiler/Compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir::fa;
using testing::HasSubstr;

namespace {

constexpr const char *kAttention = R"(
func.func @attention(%q: tensor<1x2x?x64xf16>, %k: tensor<1x1x?x64xf16>,
                     %v: tensor<1x1x?x64xf16>) -> tensor<1x2x?x64xf16> {
  %o = fa.attention %q, %k, %v
     : tensor<1x2x?x64xf16>, tensor<1x1x?x64xf16>, tensor<1x1x?x64xf16> -> tensor<1x2x?x64xf16>
  return %o : tensor<1x2x?x64xf16>
}
)";

std::string errorOf(CompileOptions options) {
  auto kernel = compile(options);
  if (kernel)
    return "";
  EXPECT_EQ(kernel.error().code, farun::ErrorCode::Input);
  return kernel.error().str();
}

CompileOptions optionsFor(const char *text) {
  CompileOptions options;
  options.path = "input.mlir";
  options.text = text;
  return options;
}

TEST(Compiler, UnknownTargetNamesTheKnownOnes) {
  CompileOptions options = optionsFor(kAttention);
  options.target = "sm_42";
  EXPECT_THAT(errorOf(options), HasSubstr("error: target 'sm_42' is unknown; "
                                          "supported: sm_80, "));
}

TEST(Compiler, MissingFileIsNamed) {
  CompileOptions options;
  options.path = "/nowhere/kernel.mlir";
  EXPECT_EQ(errorOf(options), "error: cannot read '/nowhere/kernel.mlir': No "
                              "such file or directory");
}

TEST(Compiler, SyntaxErrorHasAPlace) {
  EXPECT_THAT(errorOf(optionsFor("func.func @f() {\n  %x = fa.attention\n}\n")),
              HasSubstr("input.mlir:2:20: error: expected SSA operand"));
}

TEST(Compiler, NotMLIRAtAll) {
  EXPECT_THAT(errorOf(optionsFor("\x89PNG\r\n\x1a\n")),
              HasSubstr("input.mlir:1:1: error: "));
}

TEST(Compiler, VerifierErrorHasAPlace) {
  // The value's length differs from the key's.
  EXPECT_THAT(errorOf(optionsFor(R"(
func.func @f(%q: tensor<1x2x8x64xf16>, %k: tensor<1x1x8x64xf16>, %v: tensor<1x1x9x64xf16>) {
  %o = fa.attention %q, %k, %v : tensor<1x2x8x64xf16>, tensor<1x1x8x64xf16>, tensor<1x1x9x64xf16> -> tensor<1x2x8x64xf16>
  return
})")),
              HasSubstr("input.mlir:3:"));
}

TEST(Compiler, ModuleWithoutAttentionIsRefused) {
  EXPECT_THAT(errorOf(optionsFor("func.func @f() {\n  return\n}\n")),
              HasSubstr("no function holds an fa.attention"));
}

TEST(Compiler, UnknownEntryNamesTheFunctionsThereAre) {
  CompileOptions options = optionsFor(kAttention);
  options.entry = "main";
  EXPECT_THAT(errorOf(options),
              HasSubstr("entry 'main' names no function that holds attention; "
                        "there are attention"));
}

TEST(Compiler, ScheduleIsChecked) {
  CompileOptions options = optionsFor(kAttention);
  options.schedule = "tile=64";
  EXPECT_THAT(errorOf(options),
              HasSubstr("schedule: 'tile=64' sets no key; accepted: tile_q, "));
}

} // namespace
