//===- ReferenceTest.cpp - the oracle and comparisons through the C API ---===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace capitest;

namespace {

fa_attention describe(int64_t headDim) {
  fa_attention op = {};
  op.struct_size = sizeof(op);
  op.dtype = FA_F32;
  op.with_lse = 1;
  op.batch = op.q_heads = op.kv_heads = FA_DYNAMIC;
  op.q_length = op.kv_length = FA_DYNAMIC;
  op.head_dim = headDim;
  return op;
}

Answer reference(const fa_attention &op, const std::vector<fa_array> &inputs,
                 const std::vector<fa_array> &results,
                 const std::vector<fa_array> &bounds = {}) {
  return ask(fa_attention_reference, &op, inputs.data(), inputs.size(),
             results.data(), results.size(), bounds.data(), bounds.size());
}

/// Scores (1, 0, 2) and values (10, 20, 30) at scale ln 2: weights (2, 1, 4),
/// so the result is 160/7 and LSE is ln 7.
TEST(CAPIReference, ByHand) {
  fa_attention op = describe(1);
  op.scale_kind = FA_SCALE_NUMBER;
  op.scale = std::log(2.0);
  Tensor q(FA_F32, {1, 1, 1, 1}), k(FA_F32, {1, 1, 3, 1}),
      v(FA_F32, {1, 1, 3, 1}), out(FA_F64, {1, 1, 1, 1}),
      lse(FA_F64, {1, 1, 1}), outBound(FA_F64, {1, 1, 1, 1}),
      lseBound(FA_F64, {1, 1, 1});
  q.set(0, 1);
  const double keys[] = {1, 0, 2}, values[] = {10, 20, 30};
  for (int n = 0; n < 3; ++n) {
    k.set(n, keys[n]);
    v.set(n, values[n]);
  }
  Answer answer = reference(op, {q.array(), k.array(), v.array()},
                            {out.array(), lse.array()},
                            {outBound.array(), lseBound.array()});
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_NEAR(out.get(0), 160.0 / 7, 1e-12);
  EXPECT_NEAR(lse.get(0), std::log(7.0), 1e-12);
  EXPECT_GT(outBound.get(0), 0);
  EXPECT_LT(outBound.get(0), 1e-3);
  EXPECT_GT(lseBound.get(0), 0);

  // The scale as an operand, of any shape of one element.
  op.scale_kind = FA_SCALE_OPERAND;
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    Tensor scale(FA_F32, shape);
    scale.set(0, std::log(2.0));
    out.set(0, 0);
    answer = reference(op, {q.array(), k.array(), v.array(), scale.array()},
                       {out.array(), lse.array()});
    ASSERT_TRUE(answer.ok()) << answer.message;
    EXPECT_NEAR(out.get(0), 160.0 / 7, 1e-5);
  }

  // Causal: the query sees the first key alone.
  const fa_mask causal = {FA_MASK_CAUSAL, 0, 0, 0, 0, 0};
  op.scale_kind = FA_SCALE_DEFAULT;
  op.masks = &causal;
  op.mask_count = 1;
  ASSERT_TRUE(reference(op, {q.array(), k.array(), v.array()},
                        {out.array(), lse.array()})
                  .ok());
  EXPECT_EQ(out.get(0), 10);
  EXPECT_EQ(lse.get(0), 1);

  // tanh keeps the scores below the cap.
  op.mask_count = 0;
  op.has_softcap = 1;
  op.softcap = 1e-9;
  ASSERT_TRUE(reference(op, {q.array(), k.array(), v.array()},
                        {out.array(), lse.array()})
                  .ok());
  EXPECT_NEAR(out.get(0), 20, 1e-6);
}

TEST(CAPIReference, RowsWithoutAKey) {
  fa_attention op = describe(2);
  op.with_lse = 0;
  op.has_kv_lengths = 1;
  op.empty_row = "nan";
  Tensor q(FA_F32, {1, 1, 2, 2}), k(FA_F32, {1, 1, 3, 2}), lengths(FA_I32, {1}),
      out(FA_F32, {1, 1, 2, 2});
  lengths.as<int32_t>()[0] = 0;
  auto run = [&] {
    return reference(op, {q.array(), k.array(), k.array(), lengths.array()},
                     {out.array()});
  };
  ASSERT_TRUE(run().ok());
  EXPECT_TRUE(std::isnan(out.get(3)));
  op.empty_row = nullptr;
  ASSERT_TRUE(run().ok());
  EXPECT_EQ(out.get(3), 0);
  lengths.as<int32_t>()[0] = 4;
  Answer answer = run();
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_NE(answer.message.find("4"), std::string::npos) << answer.message;
}

TEST(CAPIReference, ThePackageKnowsItsOwn) {
  Kernel kernel = loadOneKey();
  OneKey arrays(3);
  Tensor out(FA_F64, {1, 1, 3, 1}), lse(FA_F64, {1, 1, 3});
  std::vector<fa_array> inputs = arrays.inputs(),
                        results = {out.array(), lse.array()};
  ASSERT_TRUE(ask(fa_kernel_reference, kernel.handle, "one_key", inputs.data(),
                  inputs.size(), results.data(), results.size(),
                  static_cast<const fa_array *>(nullptr), size_t(0))
                  .ok());
  EXPECT_EQ(out.get(2), -2.5);
  EXPECT_EQ(lse.get(2), 0.375 * arrays.query.get(2));
}

TEST(CAPIReference, WrongDescriptionsAreNamed) {
  Tensor q(FA_F32, {1, 1, 2, 2}), out(FA_F32, {1, 1, 2, 2}),
      lse(FA_F32, {1, 1, 2});
  const fa_mask badKind = {fa_mask_kind(7), 0, 0, 0, 0, 0},
                badChunk = {FA_MASK_CHUNK, 0, 0, 0, 0, 0};
  struct Row {
    const char *argument;
    fa_status code;
    void (*change)(fa_attention &, const fa_mask *);
  };
  for (const Row &row : std::vector<Row>{
           {"dtype", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.dtype = FA_I32; }},
           {"out_dtype", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.out_dtype = FA_F64; }},
           {"layout", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.layout = "sbhd"; }},
           {"precision", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.precision = "f32"; }},
           {"empty_row", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.empty_row = ""; }},
           {"batch", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.batch = -2; }},
           {"head_dim", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.head_dim = 0; }},
           {"value_dim", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.value_dim = -1; }},
           {"scale", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.scale_kind = FA_SCALE_NUMBER;
              op.scale = std::numeric_limits<double>::quiet_NaN();
            }},
           {"scale_kind", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.scale_kind = fa_scale_kind(3);
            }},
           {"scale_kind", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.scale_kind = fa_scale_kind(-1);
            }},
           {"out_dtype", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.out_dtype = fa_dtype(-1);
            }},
           {"masks", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              static const fa_mask mask = {FA_MASK_KIND_INT32, 0, 0, 0, 0, 0};
              op.masks = &mask;
              op.mask_count = 1;
            }},
           {"softcap", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.has_softcap = 1; }},
           {"dropout", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.has_dropout = 1;
              op.dropout = 1.5;
            }},
           {"masks", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *masks) {
              op.masks = masks;
              op.mask_count = 1;
            }},
           {"chunk", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *masks) {
              op.masks = masks + 1;
              op.mask_count = 1;
            }},
           {"chunk", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              static const fa_mask mask = {FA_MASK_CHUNK,         0, 0, 0, 0,
                                           (int64_t(1) << 30) + 1};
              op.masks = &mask;
              op.mask_count = 1;
            }},
           {"prefix", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              static const fa_mask mask = {
                  FA_MASK_CAUSAL, 0, int64_t(1) << 31, 0, 0, 0};
              op.masks = &mask;
              op.mask_count = 1;
            }},
           {"window", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              static const fa_mask mask = {FA_MASK_WINDOW,   0, 0,
                                           int64_t(1) << 31, 0, 0};
              op.masks = &mask;
              op.mask_count = 1;
            }},
           {"window", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              static const fa_mask mask = {FA_MASK_WINDOW, 0, 0, 0, -2, 0};
              op.masks = &mask;
              op.mask_count = 1;
            }},
           {"precision", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.dtype = FA_F16;
              op.precision = "tf32x3";
            }},
           {"masks", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.mask_count = 1; }},
           {"mask", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.mask = {FA_F32, 1, {1, 0, 0, 0}};
            }},
           {"bias", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.bias = {FA_F16, 5, {1, 1, 1, 1}};
            }},
           {"dtype", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.dtype = fa_dtype(77); }},
           {"kv_length", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.kv_length = -2; }},
           {"softcap", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.has_softcap = 1;
              op.softcap = 1e39;
            }},
           {"page_size", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.page_size = -1; }},
           {"bias", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.bias = {FA_F16, 2, {-2, 1, 0, 0}};
            }},
           {"bias", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) {
              op.bias = {fa_dtype(77), 1, {1, 0, 0, 0}};
            }},
           {"mask", FA_ERROR_INPUT,
            [](fa_attention &op, const fa_mask *) { op.mask.dtype = FA_I1; }},
           {"score", FA_HAVE_COMPILER ? FA_ERROR_COMPILE : FA_ERROR_UNSUPPORTED,
            [](fa_attention &op, const fa_mask *) { op.score = "{}"; }},
           {"", FA_ERROR_VERSION,
            [](fa_attention &op, const fa_mask *) { op.struct_size = 12; }},
           {"", FA_ERROR_VERSION,
            [](fa_attention &op, const fa_mask *) { op.struct_size += 8; }},
       }) {
    fa_attention op = describe(2);
    const fa_mask masks[] = {badKind, badChunk};
    row.change(op, masks);
    Answer answer = reference(op, {q.array(), q.array(), q.array()},
                              {out.array(), lse.array()});
    EXPECT_EQ(answer.code, row.code) << row.argument << ": " << answer.message;
    EXPECT_EQ(answer.argument, row.argument) << answer.message;
    EXPECT_FALSE(answer.message.empty());
  }
  EXPECT_EQ(ask(fa_attention_reference,
                static_cast<const fa_attention *>(nullptr),
                static_cast<const fa_array *>(nullptr), size_t(0),
                static_cast<const fa_array *>(nullptr), size_t(0),
                static_cast<const fa_array *>(nullptr), size_t(0))
                .argument,
            "attention");
}

TEST(CAPIReference, WrongBoundsAreNamed) {
  fa_attention op = describe(2);
  op.with_lse = 0;
  Tensor q(FA_F32, {1, 1, 2, 2}), out(FA_F64, {1, 1, 2, 2}),
      few(FA_F64, {1, 1, 2, 1});
  Answer answer = reference(op, {q.array(), q.array(), q.array()},
                            {out.array()}, {few.array()});
  EXPECT_EQ(answer.argument, "bounds");
  answer = reference(op, {q.array(), q.array(), q.array()}, {out.array()},
                     {out.array()});
  EXPECT_NE(answer.message.find("overlaps"), std::string::npos);
  Tensor whole(FA_I32, {1, 1, 2, 2});
  answer = reference(op, {q.array(), q.array(), q.array()}, {whole.array()});
  EXPECT_EQ(answer.message, "out has dtype i32; accepted is a float type");
  answer = reference(op, {q.array(), q.array(), q.array()}, {out.array()},
                     {whole.array()});
  EXPECT_NE(answer.message.find("the bounds of out have dtype i32"),
            std::string::npos);
}

fa_comparison compare(const fa_array &found, const fa_array &expected,
                      const fa_array *bounds = nullptr) {
  fa_comparison comparison = {};
  comparison.struct_size = sizeof(comparison);
  Answer answer = ask(fa_compare, &found, &expected, bounds, &comparison);
  EXPECT_TRUE(answer.ok()) << answer.message;
  return comparison;
}

TEST(CAPICompare, ElementByElement) {
  Tensor found(FA_F16, {2, 3}), expected(FA_F64, {2, 3}),
      bounds(FA_F32, {2, 3});
  for (int64_t n = 0; n < 6; ++n) {
    found.set(n, double(n));
    expected.set(n, double(n));
    bounds.set(n, 0.25);
  }
  EXPECT_TRUE(compare(found.array(), expected.array()).ok);
  found.set(4, 4.5);
  fa_array boundArray = bounds.array();
  fa_comparison comparison =
      compare(found.array(), expected.array(), &boundArray);
  EXPECT_FALSE(comparison.ok);
  EXPECT_EQ(comparison.wrong, 1);
  EXPECT_EQ(comparison.count, 6);
  EXPECT_EQ(comparison.rank, 2);
  EXPECT_EQ(comparison.at[0], 1);
  EXPECT_EQ(comparison.at[1], 1);
  EXPECT_EQ(comparison.max_error, 0.5);
  EXPECT_EQ(comparison.bound, 0.25);
  bounds.set(4, 0.5);
  EXPECT_TRUE(compare(found.array(), expected.array(), &boundArray).ok);

  found.set(4, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(compare(found.array(), expected.array(), &boundArray).ok);
  expected.set(4, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(compare(found.array(), expected.array(), &boundArray).ok);
}

#if !defined(__SANITIZE_ADDRESS__) // which ends the process instead
/// Terabytes are asked of the allocator: an error like others.
TEST(CAPICompare, MoreThanTheMemoryIsAnError) {
  Tensor one(FA_F64, {1});
  const std::vector<int64_t> shape = {int64_t(1) << 40}, still = {0};
  fa_array array = one.view(shape, still, 0);
  fa_comparison comparison = {};
  comparison.struct_size = sizeof(comparison);
  Answer answer = ask(fa_compare, const_cast<const fa_array *>(&array),
                      const_cast<const fa_array *>(&array),
                      static_cast<const fa_array *>(nullptr), &comparison);
  EXPECT_EQ(answer.code, FA_ERROR_MEMORY);
  EXPECT_EQ(answer.message, "out of memory");
}
#endif

TEST(CAPICompare, ShapesMustBeTheSame) {
  Tensor found(FA_F32, {2, 3}), expected(FA_F32, {3, 2});
  fa_array one = found.array(), other = expected.array();
  fa_comparison comparison = {};
  comparison.struct_size = sizeof(comparison);
  Answer answer = ask(fa_compare, const_cast<const fa_array *>(&one),
                      const_cast<const fa_array *>(&other),
                      static_cast<const fa_array *>(nullptr), &comparison);
  EXPECT_EQ(answer.code, FA_ERROR_INPUT);
  EXPECT_EQ(answer.argument, "expected");
  EXPECT_EQ(answer.message, "found has shape 2x3, and expected has 3x2");
  answer = ask(fa_compare, const_cast<const fa_array *>(&one),
               const_cast<const fa_array *>(&one),
               const_cast<const fa_array *>(&other), &comparison);
  EXPECT_EQ(answer.argument, "bounds");
  EXPECT_EQ(answer.message, "bounds has shape 3x2, and found has 2x3");
  EXPECT_EQ(ask(fa_compare, const_cast<const fa_array *>(&one),
                const_cast<const fa_array *>(&one),
                static_cast<const fa_array *>(nullptr),
                static_cast<fa_comparison *>(nullptr))
                .message,
            "the pointer to fa_comparison is null");
  EXPECT_EQ(ask(fa_compare, const_cast<const fa_array *>(&one),
                static_cast<const fa_array *>(nullptr),
                static_cast<const fa_array *>(nullptr), &comparison)
                .argument,
            "expected");
}

} // namespace
