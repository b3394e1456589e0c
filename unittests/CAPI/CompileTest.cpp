//===- CompileTest.cpp - from text and from descriptions to kernels -------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace capitest;

namespace {

fa_attention describe(int64_t headDim = 32) {
  fa_attention op = {};
  op.struct_size = sizeof(op);
  op.dtype = FA_F16;
  op.with_lse = 1;
  op.batch = op.q_heads = op.kv_heads = FA_DYNAMIC;
  op.q_length = op.kv_length = FA_DYNAMIC;
  op.head_dim = headDim;
  return op;
}

fa_compile_options defaults() {
  fa_compile_options options = {};
  options.struct_size = sizeof(options);
  return options;
}

Answer compile(const fa_attention &op, Kernel &kernel,
               fa_compile_options options = defaults()) {
  return ask(fa_compile_attention, &op,
             const_cast<const fa_compile_options *>(&options), &kernel.handle);
}

Answer compile(const char *source, Kernel &kernel,
               fa_compile_options options = defaults()) {
  return ask(fa_compile_text, source,
             const_cast<const fa_compile_options *>(&options), &kernel.handle);
}

constexpr const char *kTwo = R"(
func.func @one(%q: tensor<1x1x?x16xf16>) -> tensor<1x1x?x16xf16> {
  %o = fa.attention %q, %q, %q : tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16>,
       tensor<1x1x?x16xf16> -> tensor<1x1x?x16xf16>
  return %o : tensor<1x1x?x16xf16>
}
func.func @two(%q: tensor<1x1x?x16xf16>, %s: f32) -> tensor<1x1x?x16xf16> {
  %o = fa.attention %q, %q, %q scale(%s : f32) : tensor<1x1x?x16xf16>,
       tensor<1x1x?x16xf16>, tensor<1x1x?x16xf16> -> tensor<1x1x?x16xf16>
  return %o : tensor<1x1x?x16xf16>
})";

/// The inputs of a described attention, and what must come out.
struct Case {
  Case(int64_t b, int64_t hq, int64_t hkv, int64_t sq, int64_t sk, int64_t d)
      : q(FA_F16, {b, hq, sq, d}), k(FA_F16, {b, hkv, sk, d}),
        v(FA_F16, {b, hkv, sk, d}), out(FA_F16, {b, hq, sq, d}),
        lse(FA_F32, {b, hq, sq}), out64(FA_F64, {b, hq, sq, d}),
        lse64(FA_F64, {b, hq, sq}), outBound(FA_F64, {b, hq, sq, d}),
        lseBound(FA_F64, {b, hq, sq}) {
    q.fill(1);
    k.fill(2);
    v.fill(3);
    inputs = {q.array(), k.array(), v.array()};
  }

  /// Launches, asks the oracle of the description, compares both results.
  void expectRight(const fa_attention &op, const Kernel &kernel) {
    Answer answer = launch(kernel, inputs, {out.array(), lse.array()});
    ASSERT_TRUE(answer.ok()) << answer.message;
    std::vector<fa_array> results = {out64.array(), lse64.array()},
                          bounds = {outBound.array(), lseBound.array()};
    answer = ask(fa_attention_reference, &op,
                 const_cast<const fa_array *>(inputs.data()), inputs.size(),
                 const_cast<const fa_array *>(results.data()), size_t(2),
                 const_cast<const fa_array *>(bounds.data()), size_t(2));
    ASSERT_TRUE(answer.ok()) << answer.message;
    for (int n = 0; n < 2; ++n) {
      fa_array found = n ? lse.array() : out.array();
      fa_comparison comparison = {};
      comparison.struct_size = sizeof(comparison);
      answer = ask(fa_compare, const_cast<const fa_array *>(&found),
                   const_cast<const fa_array *>(&results[n]),
                   const_cast<const fa_array *>(&bounds[n]), &comparison);
      ASSERT_TRUE(answer.ok()) << answer.message;
      EXPECT_TRUE(comparison.ok)
          << n << ": " << comparison.max_error << " beside " << comparison.bound
          << " " << comparison.problem;
    }
  }

  Tensor q, k, v, out, lse, out64, lse64, outBound, lseBound;
  std::vector<fa_array> inputs;
};

TEST(CAPICompile, ADescriptionServesAllShapes) {
  fa_attention op = describe();
  const fa_mask masks[] = {{FA_MASK_CAUSAL, 1, 0, 0, 0, 0}};
  op.masks = masks;
  op.mask_count = 1;
  Kernel kernel;
  uint64_t before = fa_compile_count();
  Answer answer = compile(op, kernel);
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_NE(text(fa_kernel_source, kernel.handle).find("#fa.causal"),
            std::string::npos);
  Case(1, 2, 1, 5, 9, 32).expectRight(op, kernel);
  Case(2, 2, 2, 33, 40, 32).expectRight(op, kernel);
  Case nothing(1, 1, 1, 0, 3, 32);
  nothing.expectRight(op, kernel);
  nothing.inputs[0].data = nullptr; // of no element
  nothing.expectRight(op, kernel);
  Case(1, 1, 1, 3, 0, 32).expectRight(op, kernel);
  EXPECT_EQ(fa_compile_count(), before + 1);
}

TEST(CAPICompile, OperandsOfADescriptionAreInputs) {
  fa_attention op = describe();
  op.scale_kind = FA_SCALE_OPERAND;
  op.mask = {FA_I1, 2, {1, FA_DYNAMIC, 0, 0}};
  op.has_kv_lengths = 1;
  Kernel kernel;
  Answer answer = compile(op, kernel);
  ASSERT_TRUE(answer.ok()) << answer.message;
  Case arrays(2, 1, 1, 4, 6, 32);
  Tensor scale(FA_F32, {}), mask(FA_I1, {1, 6}), lengths(FA_I32, {2});
  scale.set(0, -0.25);
  for (int n = 0; n < 6; ++n)
    mask.bytes[size_t(n)] = n == 2 ? 0 : 255; // anything but 0 is true
  lengths.as<int32_t>()[0] = 3;
  lengths.as<int32_t>()[1] = 6;
  arrays.inputs.push_back(scale.array());
  arrays.inputs.push_back(mask.array());
  arrays.inputs.push_back(lengths.array());
  arrays.expectRight(op, kernel);

  // The numbers in an operand are looked at before a launch.
  lengths.as<int32_t>()[1] = 7;
  answer =
      launch(kernel, arrays.inputs, {arrays.out.array(), arrays.lse.array()});
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  lengths.as<int32_t>()[1] = 6;
  scale.set(0, std::nan(""));
  answer =
      launch(kernel, arrays.inputs, {arrays.out.array(), arrays.lse.array()});
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "scale") << answer.message;
}

TEST(CAPICompile, LayoutAndScaleAndValueDim) {
  fa_attention op = describe();
  op.layout = "bshd";
  op.value_dim = 16;
  op.out_dtype = FA_F32;
  op.scale_kind = FA_SCALE_NUMBER;
  op.scale = 0.5;
  op.empty_row = "nan";
  Kernel kernel;
  Answer answer = compile(op, kernel);
  ASSERT_TRUE(answer.ok()) << answer.message;
  fa_operand_info out = {};
  out.struct_size = sizeof(out);
  ASSERT_TRUE(
      ask(fa_kernel_operand, kernel.handle, size_t(0), size_t(3), &out).ok());
  EXPECT_EQ(out.dtype, FA_F32);
  EXPECT_EQ(out.shape[3], 16);
  EXPECT_STREQ(out.dims[1], "Sq");
  std::string source = text(fa_kernel_source, kernel.handle);
  for (const char *word : {"5.000000e-01", "bshd", "nan"})
    EXPECT_NE(source.find(word), std::string::npos) << source;
}

TEST(CAPICompile, StagesAreKeptOnDemand) {
  fa_attention op = describe();
  fa_compile_options options = defaults();
  options.keep_stages = 1;
  options.schedule = "tile_q=64,state=shared";
  Kernel kernel;
  Answer answer = compile(op, kernel, options);
  ASSERT_TRUE(answer.ok()) << answer.message;
  size_t count = 0;
  ASSERT_TRUE(ask(fa_kernel_stage_count, kernel.handle, &count).ok());
  ASSERT_EQ(count, 6u);
  const char *name = nullptr, *stage = nullptr;
  ASSERT_TRUE(
      ask(fa_kernel_stage, kernel.handle, size_t(1), &name, &stage).ok());
  EXPECT_STREQ(name, "1-tile.mlir");
  const char *before = name;
  Answer noPlace = ask(fa_kernel_stage, kernel.handle, size_t(2), &name,
                       static_cast<const char **>(nullptr));
  EXPECT_EQ(noPlace.argument, "text");
  EXPECT_EQ(name, before);
  EXPECT_NE(std::string(stage).find("scf.for"), std::string::npos);
  EXPECT_NE(text(fa_kernel_manifest, kernel.handle).find("\"tile_q\": 64"),
            std::string::npos);
}

/// m, l, u of a row, when the kernel was compiled to tell.
TEST(CAPICompile, TracesARow) {
  fa_attention op = describe();
  fa_compile_options options = defaults();
  options.trace_state = 1;
  Kernel traced, plain;
  ASSERT_TRUE(compile(op, traced, options).ok());
  ASSERT_TRUE(compile(op, plain).ok());
  Case arrays(1, 1, 1, 3, 5, 32);
  fa_launch_options launchOptions = {};
  launchOptions.trace = 1;
  launchOptions.trace_row = 2;
  fa_run *run = nullptr;
  Answer answer =
      launch(traced, arrays.inputs, {arrays.out.array(), arrays.lse.array()},
             launchOptions, &run);
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_NE(text(fa_run_report, run).find("\"block\": 0"), std::string::npos);
  fa_run_free(run);
  answer = launch(plain, arrays.inputs,
                  {arrays.out.array(), arrays.lse.array()}, launchOptions);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
}

TEST(CAPICompile, TextsWithSeveralEntries) {
  Kernel both, second;
  Answer answer = compile(kTwo, both);
  ASSERT_TRUE(answer.ok()) << answer.message;
  size_t count = 0, entry = 0;
  ASSERT_TRUE(ask(fa_kernel_entry_count, both.handle, &count).ok());
  EXPECT_EQ(count, 2u);
  ASSERT_TRUE(ask(fa_kernel_find_entry, both.handle, "two", &entry).ok());
  EXPECT_EQ(entry, 1u);
  answer = launch(both, {}, {});
  EXPECT_EQ(answer.argument, "entry") << answer.message;
  fa_compile_options options = defaults();
  options.entry = "two";
  ASSERT_TRUE(compile(kTwo, second, options).ok());
  ASSERT_TRUE(ask(fa_kernel_entry_count, second.handle, &count).ok());
  EXPECT_EQ(count, 1u);
  // One array is query, key and value.
  fa_operand_info operand = {};
  operand.struct_size = sizeof(operand);
  ASSERT_TRUE(
      ask(fa_kernel_operand, second.handle, size_t(0), size_t(0), &operand)
          .ok());
  EXPECT_STREQ(operand.role, "query, key, value");
}

TEST(CAPICompile, WhatIsWrongIsLocated) {
  Kernel kernel;
  fa_compile_options options = defaults();
  options.name = "mine.mlir";
  Answer answer = compile("func.func @f() {\n  oops\n}", kernel, options);
  EXPECT_EQ(answer.code, FA_ERROR_COMPILE);
  EXPECT_EQ(answer.location.rfind("mine.mlir:2:", 0), 0u) << answer.location;
  ASSERT_FALSE(answer.diagnostics.empty());
  EXPECT_EQ(answer.diagnostics[0].rfind(answer.location + ": error: ", 0), 0u)
      << answer.diagnostics[0];
  EXPECT_EQ(kernel.handle, nullptr);

  EXPECT_EQ(compile("", kernel).code, FA_ERROR_COMPILE);
  EXPECT_EQ(compile("module {}", kernel).message,
            "no function holds an fa.attention");
  EXPECT_EQ(ask(fa_compile_text, static_cast<const char *>(nullptr),
                static_cast<const fa_compile_options *>(nullptr),
                &kernel.handle)
                .argument,
            "text");
  EXPECT_EQ(ask(fa_compile_file, "no-such.mlir",
                static_cast<const fa_compile_options *>(nullptr),
                &kernel.handle)
                .argument,
            "path");
  options.target = "sm_1";
  answer = compile(kTwo, kernel, options);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "target");
  options.target = nullptr;
  options.schedule = "tile_q=7";
  EXPECT_EQ(compile(kTwo, kernel, options).code, FA_ERROR_COMPILE);
  options.schedule = nullptr;
  options.entry = "three";
  EXPECT_EQ(compile(kTwo, kernel, options).code, FA_ERROR_COMPILE);
  options.struct_size = 1;
  EXPECT_EQ(compile(kTwo, kernel, options).code, FA_ERROR_VERSION);
}

/// Clauses that the dialect has and no kernel yet, and those of other forms:
/// the text is made, and the compiler says what it thinks of it.
TEST(CAPICompile, EveryClauseReachesTheCompiler) {
  struct Row {
    const char *clause;
    void (*change)(fa_attention &);
  };
  for (const Row &row : std::vector<Row>{
           {"softcap",
            [](fa_attention &op) {
              op.has_softcap = 1;
              op.softcap = 30;
            }},
           {"bias",
            [](fa_attention &op) {
              op.bias = {FA_F16, 2, {-1, -1, 0, 0}};
            }},
           {"alibi", [](fa_attention &op) { op.has_alibi = 1; }},
           {"sink", [](fa_attention &op) { op.has_sink = 1; }},
           {"segments", [](fa_attention &op) { op.has_segments = 1; }},
           {"dropout",
            [](fa_attention &op) {
              op.has_dropout = 1;
              op.dropout = 0.1;
            }},
           {"q_offsets", [](fa_attention &op) { op.is_packed = 1; }},
           {"pages",
            [](fa_attention &op) {
              op.page_size = 16;
              op.has_kv_lengths = 1;
            }},
           {"score",
            [](fa_attention &op) {
              op.score = "{ ^bb0(%s: f32, %b: index, %h: index, %i: index, %j: "
                         "index): fa.yield %s : f32 }";
            }},
       }) {
    fa_attention op = describe();
    row.change(op);
    Kernel kernel;
    fa_compile_options options = defaults();
    options.keep_stages = 1;
    Answer answer = compile(op, kernel, options);
    if (answer.ok()) {
      const char *name = nullptr, *stage = nullptr;
      ASSERT_TRUE(
          ask(fa_kernel_stage, kernel.handle, size_t(0), &name, &stage).ok());
      EXPECT_NE(std::string(stage).find(row.clause), std::string::npos);
      continue;
    }
    // Never a syntax of ours that the parser does not take.
    EXPECT_EQ(answer.code, FA_ERROR_COMPILE) << row.clause;
    EXPECT_EQ(answer.message.find("expected"), std::string::npos)
        << row.clause << ": " << answer.message;
    EXPECT_NE(answer.message.find(row.clause), std::string::npos)
        << row.clause << ": " << answer.message;
    EXPECT_EQ(answer.argument, row.clause) << answer.message;
  }
}

/// What the compiler does not do yet is laid to an operand or a clause.
TEST(CAPICompile, RefusalsNameTheArgument) {
  struct Row {
    const char *argument, *says;
    void (*change)(fa_attention &);
  };
  for (const Row &row : std::vector<Row>{
           {"query", "head dim D = 300",
            [](fa_attention &op) { op.head_dim = op.value_dim = 300; }},
           {"value", "head dim Dv = 257",
            [](fa_attention &op) { op.value_dim = 257; }},
           {"query", "element type 'f8E5M2'",
            [](fa_attention &op) {
              op.dtype = FA_F8E5M2;
              op.out_dtype = FA_F32;
            }},
           {"query", "extent Sk = 2147483647",
            [](fa_attention &op) { op.kv_length = INT32_MAX; }},
           {"score", "expected '{' to begin a region",
            [](fa_attention &op) { op.score = "?"; }},
           {"visible", "expected operation name in quotes",
            [](fa_attention &op) {
              op.score = "{ ^bb0(%s: f32, %b: index, %h: index, %i: index, "
                         "%j: index):\n  fa.yield %s : f32 }";
              op.visible = "{";
            }},
           {"score", "expected the arguments", [](fa_attention &op) {
              op.score = "{ ^bb0(%s: f32): fa.yield %s : f32 }";
            }}}) {
    fa_attention op = describe();
    row.change(op);
    Kernel kernel;
    Answer answer = compile(op, kernel);
    EXPECT_EQ(answer.code, FA_ERROR_COMPILE) << row.says;
    EXPECT_EQ(answer.argument, row.argument) << answer.message;
    EXPECT_NE(answer.message.find(row.says), std::string::npos)
        << answer.message;
  }
}

/// A description that no text states, and a schedule that no kernel has.
TEST(CAPICompile, WrongNumbersNameTheArgument) {
  fa_attention op = describe();
  const fa_mask far = {FA_MASK_CAUSAL, 0, int64_t(1) << 31, 0, 0, 0};
  op.masks = &far;
  op.mask_count = 1;
  Kernel kernel;
  Answer answer = compile(op, kernel);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "prefix");
  EXPECT_EQ(answer.message,
            "the prefix is 2147483648; accepted are 0 to 2147483647");
  op.mask_count = 0;
  fa_compile_options options = defaults();
  for (const char *schedule : {"tile_q=7", "tile_q=0", "x", "warps=99"}) {
    options.schedule = schedule;
    answer = compile(op, kernel, options);
    EXPECT_EQ(answer.code, FA_ERROR_COMPILE) << schedule;
    EXPECT_EQ(answer.argument, "schedule") << answer.message;
  }
}

TEST(CAPICompile, WhatWasNotKeptIsNotThere) {
  fa_attention op = describe();
  Kernel kernel;
  ASSERT_TRUE(compile(op, kernel).ok());
  size_t count = 9;
  ASSERT_TRUE(ask(fa_kernel_stage_count, kernel.handle, &count).ok());
  EXPECT_EQ(count, 0u);
  const char *name = nullptr, *stage = nullptr;
  EXPECT_EQ(
      ask(fa_kernel_stage, kernel.handle, size_t(0), &name, &stage).message,
      "stage 0 is none of 0, counted from 0");
  ASSERT_TRUE(ask(fa_kernel_warning_count, kernel.handle, &count).ok());
  EXPECT_EQ(count, 0u);
  const char *line = nullptr;
  EXPECT_EQ(ask(fa_kernel_warning, kernel.handle, size_t(0), &line).argument,
            "warning");
}

TEST(CAPICompile, InSeveralThreadsAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      fa_attention op = describe(16 + 16 * (n % 2));
      Kernel kernel, broken;
      wrong += compile("oops", broken).code != FA_ERROR_COMPILE;
      if (!compile(op, kernel).ok()) {
        ++wrong;
        return;
      }
      Case arrays(1, 1, 1, 7, 7, op.head_dim);
      wrong += !launch(kernel, arrays.inputs,
                       {arrays.out.array(), arrays.lse.array()})
                    .ok();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
