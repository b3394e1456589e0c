//===- FromC.c - the header as C11 sees it --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa-c/FA.h"

#include <string.h>

_Static_assert(sizeof(fa_status) == sizeof(int), "an enumeration is an int");

int runFromC(void);

/* 0, or the number of the step that failed. */
int runFromC(void) {
  fa_error *error = NULL;
  if (fa_abi_check(FA_ABI_VERSION, &error) != FA_OK || error)
    return 1;
  const char *const names[] = {"B"};
  const int64_t values[] = {3};
  int64_t value = 0;
  if (fa_evaluate("B * 2 + 1", names, values, 1, &value, &error) != FA_OK ||
      value != 7)
    return 2;
  if (fa_evaluate("B *", names, values, 1, &value, &error) != FA_ERROR_INPUT ||
      !error)
    return 3;
  if (strcmp(fa_error_argument(error), "expression") != 0 ||
      fa_error_free(error) != FA_OK)
    return 4;
  float element = 2.0f;
  const fa_array scalar = {.data = &element, .dtype = FA_F32};
  fa_comparison comparison = {.struct_size = sizeof comparison};
  if (fa_compare(&scalar, &scalar, NULL, &comparison, NULL) != FA_OK ||
      !comparison.ok || comparison.count != 1)
    return 5;
  return 0;
}
