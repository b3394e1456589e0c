//===- main.c - attention in a C program ----------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   embed-c [TARGET]
//
// Compiles causal attention with grouped heads once, runs it for two lengths on
// the PTX machine, and compares each result with the f64 oracle. Exit code 0
// when all is right, 1 when a result is not, 2 when a call failed.
//
//===----------------------------------------------------------------------===//
#include "fa-c/FA.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kHeads = 4, kKVHeads = 2, kHeadDim = 64 };

/* Prints what went wrong, and ends. */
static void check(fa_status status, fa_error **place) {
  if (status == FA_OK)
    return;
  fa_error *error = *place;
  fprintf(stderr, "%s error: %s\n", fa_status_name(status),
          fa_error_message(error));
  if (*fa_error_argument(error))
    fprintf(stderr, "  argument: %s\n", fa_error_argument(error));
  for (size_t n = 0; n < fa_error_diagnostic_count(error); ++n)
    fprintf(stderr, "  %s\n", fa_error_diagnostic(error, n));
  fa_error_free(error);
  exit(2);
}

static void *allocate(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (!memory)
    exit(2);
  return memory;
}

/* An f16 from a float that one holds exactly. */
static uint16_t half(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (value == 0)
    return 0;
  return (uint16_t)((bits >> 16 & 0x8000) |
                    (((bits >> 13) - 0x1c000) & 0x7fff));
}

/* Sixteenths between -2 and 2. */
static uint16_t *randomHalves(size_t count, uint32_t seed) {
  uint16_t *values = allocate(count * sizeof *values);
  for (size_t n = 0; n < count; ++n) {
    seed = seed * 1664525u + 1013904223u;
    values[n] = half(((int)(seed >> 26) - 32) / 16.0f);
  }
  return values;
}

static fa_kernel *compile(const fa_attention *attention, const char *target) {
  fa_compile_options options = {.struct_size = sizeof options};
  options.target = target;
  fa_kernel *kernel = NULL;
  fa_error *error = NULL;
  check(fa_compile_attention(attention, &options, &kernel, &error), &error);
  const char *ptx = NULL;
  check(fa_kernel_ptx(kernel, &ptx, &error), &error);
  printf("compiled for %s: %zu bytes of PTX\n", target, strlen(ptx));
  return kernel;
}

static fa_array view(void *data, fa_dtype dtype, const int64_t *shape) {
  fa_array array = {.data = data, .dtype = dtype, .rank = 4, .shape = shape};
  return array;
}

/* 0 when the kernel agrees with the oracle. */
static int run(fa_kernel *kernel, const fa_attention *attention,
               int64_t queries, int64_t keys) {
  const int64_t q[] = {1, kHeads, queries, kHeadDim};
  const int64_t kv[] = {1, kKVHeads, keys, kHeadDim};
  size_t qCount = (size_t)(kHeads * queries * kHeadDim);
  size_t kvCount = (size_t)(kKVHeads * keys * kHeadDim);
  fa_array inputs[] = {view(randomHalves(qCount, 1), FA_F16, q),
                       view(randomHalves(kvCount, 2), FA_F16, kv),
                       view(randomHalves(kvCount, 3), FA_F16, kv)};
  fa_array out = view(allocate(qCount * 2), FA_F16, q);
  fa_array expected = view(allocate(qCount * 8), FA_F64, q);
  fa_array bounds = view(allocate(qCount * 8), FA_F64, q);

  fa_error *error = NULL;
  check(fa_kernel_launch(kernel, NULL, inputs, 3, &out, 1, NULL, NULL, &error),
        &error);
  check(fa_attention_reference(attention, inputs, 3, &expected, 1, &bounds, 1,
                               &error),
        &error);
  fa_comparison result = {.struct_size = sizeof result};
  check(fa_compare(&out, &expected, &bounds, &result, &error), &error);
  printf("%lld queries, %lld keys: %s, worst error %.1e of at most %.1e\n",
         (long long)queries, (long long)keys, result.ok ? "right" : "WRONG",
         result.max_error, result.bound);
  for (int n = 0; n < 3; ++n)
    free(inputs[n].data);
  free(out.data);
  free(expected.data);
  free(bounds.data);
  return result.ok ? 0 : 1;
}

int main(int argc, char **argv) {
  fa_error *error = NULL;
  check(fa_abi_check(FA_ABI_VERSION, &error), &error);
  printf("FA-MLIR %s on LLVM %s\n", fa_version(), fa_llvm_version());

  // Lengths are left open: one kernel serves them all.
  const fa_mask causal = {.kind = FA_MASK_CAUSAL, .bottom_right = 1};
  const fa_attention attention = {.struct_size = sizeof attention,
                                  .dtype = FA_F16,
                                  .batch = 1,
                                  .q_heads = kHeads,
                                  .kv_heads = kKVHeads,
                                  .q_length = FA_DYNAMIC,
                                  .kv_length = FA_DYNAMIC,
                                  .head_dim = kHeadDim,
                                  .masks = &causal,
                                  .mask_count = 1};
  fa_kernel *kernel = compile(&attention, argc > 1 ? argv[1] : "sm_80");
  int wrong = run(kernel, &attention, 100, 150);
  wrong |= run(kernel, &attention, 7, 300);
  fa_kernel_free(kernel);
  return wrong;
}
