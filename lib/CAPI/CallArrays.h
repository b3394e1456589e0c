//===- CallArrays.h - the arrays of a call and what they bind ---*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_CALLARRAYS_H
#define FA_LIB_CAPI_CALLARRAYS_H

#include "Arrays.h"
#include "Kernel.h"

#include "fa/Runner/Binding.h"

namespace facapi {

/// Inputs and results of a launch or of the oracle, as an entry wants them.
struct CallArrays {
  std::vector<GivenArray> inputs, results;
  farun::Binding binding;

  /// Looks at the arrays and makes one sense of their extents. `exact`: the
  /// results have the entry's types, else any float type.
  Outcome read(const EntryView &view, const fa_array *inputArrays,
               size_t inputCount, const fa_array *resultArrays,
               size_t resultCount, bool exact);

  /// Dense copies, by operand; those of results are empty.
  std::vector<farun::Array> gatherInputs(const farun::Entry &entry) const;

  /// By operand.
  size_t size() const { return inputs.size() + results.size(); }
  const GivenArray &operator[](size_t n) const {
    return n < inputs.size() ? inputs[n] : results[n - inputs.size()];
  }

  /// The number of the first array in device memory; size() without one.
  size_t findOnDevice() const;
};

/// The role of the operand that a message of the runner is about; "" without.
std::string findBlamed(const farun::Entry &entry, const std::string &message);

} // namespace facapi

#endif // FA_LIB_CAPI_CALLARRAYS_H
