//===- Binding.h - extents by role ------------------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every dimension of every operand has a role (B, Hq, Sk, ...). Static types,
// --dim, --shape and the arrays each say something about some of them; binding
// makes one value of it all, or says who disagrees with whom.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_BINDING_H
#define FA_RUNNER_BINDING_H

#include "fa/Runner/RunSpec.h"
#include "fa/Support/Manifest.h"

namespace farun {

struct Binding {
  Extents extents;
  /// The shape of each operand of the entry.
  std::vector<std::vector<int64_t>> shapes;
};

Expected<Binding> bindExtents(const Entry &entry, const RunSpec &spec);

/// "argument 1 (key)", "result 0 (out)": how messages name an operand.
std::string describeOperand(const Entry &entry, int index);

} // namespace farun

#endif // FA_RUNNER_BINDING_H
