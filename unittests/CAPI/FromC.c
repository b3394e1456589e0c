//===- FromC.c - the header as C11 sees it --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa-c/FA.h"

#include <string.h>

#define IS_AN_INT(type, least)                                                 \
  _Static_assert(sizeof(type) == sizeof(int32_t) && (type)-1 < 0 &&            \
                     least == INT32_MIN,                                       \
                 "an enumeration holds any int32_t")
IS_AN_INT(fa_status, FA_STATUS_INT32);
IS_AN_INT(fa_dtype, FA_DTYPE_INT32);
IS_AN_INT(fa_mask_kind, FA_MASK_KIND_INT32);
IS_AN_INT(fa_scale_kind, FA_SCALE_KIND_INT32);
IS_AN_INT(fa_operand_kind, FA_OPERAND_KIND_INT32);
IS_AN_INT(fa_memory, FA_MEMORY_INT32);

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
