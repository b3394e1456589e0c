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

#include <sstream>
#include <thread>

using namespace mlir::fa;
using testing::HasSubstr;
using testing::Not;

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

TEST(Compiler, NestingWithoutEndIsRefused) {
  auto nested = [](size_t depth, const char *open, const char *close) {
    std::string text = "func.func @f() {\n";
    for (size_t n = 0; n < depth; ++n)
      text += open;
    for (size_t n = 0; n < depth; ++n)
      text += close;
    return errorOf(optionsFor((text + "return }").c_str()));
  };
  const char *error = "error: brackets are nested more than 1000 deep";
  EXPECT_THAT(nested(30000, "scf.execute_region {\n", "}\n"),
              HasSubstr(std::string("input.mlir:1001:20: ") + error));
  for (const char *open : {"(", "[", "<"})
    EXPECT_THAT(nested(200000, open, ""),
                HasSubstr(std::string("input.mlir:2:1000: ") + error));
  // As much as is read; and what is no bracket.
  EXPECT_THAT(nested(999, "scf.execute_region {\n", "}\n"),
              Not(HasSubstr("nested")));
  for (const char *open : {"-> ", "<= ", "// (", "\"(\\\"\" "})
    EXPECT_THAT(nested(2000, open, ""), Not(HasSubstr("nested")));
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
              HasSubstr("schedule: 'tile=64': unknown schedule key 'tile', "
                        "expected one of tile_q, "));
}

constexpr const char *kTwo = R"(
!t = tensor<1x1x16x32xbf16>
func.func @first(%q: !t, %k: !t, %v: !t) -> !t {
  %o = fa.attention %q, %k, %v : !t, !t, !t -> !t
  return %o : !t
}
func.func @second(%q: !t, %k: !t, %v: !t) -> !t {
  %o = fa.attention %q, %k, %v scale(0.5) : !t, !t, !t -> !t
  return %o : !t
}
)";

farun::Expected<CompiledKernel> compileText(const char *text,
                                            const std::string &entry = "") {
  CompileOptions options = optionsFor(text);
  options.entry = entry;
  return compile(options);
}

TEST(Compiler, ManifestReadsBackAsItWasWritten) {
  auto kernel = compileText(kAttention);
  ASSERT_TRUE(kernel) << kernel.error().str();
  std::string json = farun::manifestToJson(kernel->manifest);
  auto read = farun::parseManifest(json, "manifest.json");
  ASSERT_TRUE(read) << read.error().str();
  EXPECT_EQ(farun::manifestToJson(*read), json);

  ASSERT_EQ(read->entries.size(), 1u);
  const farun::Entry &entry = read->entries[0];
  EXPECT_EQ(entry.name, "attention");
  ASSERT_EQ(entry.operands.size(), 4u);
  EXPECT_EQ(entry.operands[1].role, "key");
  EXPECT_EQ(entry.operands[1].shape,
            (std::vector<int64_t>{1, 1, farun::kDynamic, 64}));
  EXPECT_EQ(entry.operands[3].kind, farun::OperandKind::Output);
  EXPECT_EQ(entry.attention.scale, 0.125);
  EXPECT_GT(entry.attention.schedule.tileKV, 0);
  ASSERT_EQ(entry.launches.size(), 1u);
  EXPECT_THAT(kernel->ptx,
              HasSubstr(".entry " + entry.launches[0].kernel + "("));
  EXPECT_EQ(entry.launches[0].arguments.size(), entry.parameters.size());
}

TEST(Compiler, ManifestTellsEveryKeyOfTheSchedule) {
  CompileOptions options = optionsFor(kAttention);
  options.target = "sm_90a";
  options.schedule = "tile_q=128,tile_kv=64,stages=3,pingpong=false,"
                     "persistent=true,polynomial=8";
  auto kernel = compile(options);
  ASSERT_TRUE(kernel) << kernel.error().str();
  std::ostringstream keys;
  farun::forEachKey(kernel->manifest.entries[0].attention.schedule,
                    [&](const char *key, const auto &value) {
                      keys << key << "=" << value << " ";
                    });
  EXPECT_EQ(keys.str(),
            "tile_q=128 tile_kv=64 warps=8 stages=3 state=registers "
            "splits=1 query=shared pingpong=0 producers=4 persistent=1 "
            "cluster=1 polynomial=8 ");
}

TEST(Compiler, TraceAddsItsBufferAndRow) {
  CompileOptions options = optionsFor(kAttention);
  auto traced = [](const CompiledKernel &kernel) {
    std::vector<std::string> types;
    for (const farun::Parameter &p : kernel.manifest.entries[0].parameters)
      if (p.kind == farun::ParameterKind::Trace)
        types.push_back(p.type);
    return types;
  };
  auto plain = compile(options);
  ASSERT_TRUE(plain) << plain.error().str();
  EXPECT_EQ(traced(*plain).size(), 0u);
  options.traceState = true;
  auto kernel = compile(options);
  ASSERT_TRUE(kernel) << kernel.error().str();
  EXPECT_THAT(traced(*kernel), testing::UnorderedElementsAre("ptr", "i64"));
}

TEST(Compiler, TwoFunctionsShareOnePTX) {
  auto both = compileText(kTwo);
  ASSERT_TRUE(both) << both.error().str();
  ASSERT_EQ(both->manifest.entries.size(), 2u);
  EXPECT_EQ(both->manifest.entries[1].attention.scale, 0.5);
  EXPECT_THAT(both->ptx, HasSubstr(".entry first_kernel("));
  EXPECT_THAT(both->ptx, HasSubstr(".entry second_kernel("));

  auto second = compileText(kTwo, "second");
  ASSERT_TRUE(second) << second.error().str();
  EXPECT_EQ(second->manifest.entries.size(), 1u);
  EXPECT_THAT(second->ptx, Not(HasSubstr("first_kernel")));
}

TEST(Compiler, ThreadsCompileBesideEachOther) {
  std::vector<std::string> texts(3);
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&text] {
      if (auto kernel = compileText(kAttention))
        text = kernel->ptx;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_NE(texts[0], "");
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

} // namespace
