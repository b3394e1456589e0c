//===- HopperForms.h - forms of kernels with producers ----------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table that the tests of rings, of persistent blocks and of clusters go
// through, each with the keys of its own.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_ATTENTION_HOPPERFORMS_H
#define FA_UNITTESTS_ATTENTION_HOPPERFORMS_H

#include "Kernel.h"

namespace farun::test {

inline constexpr const char *kCausal = "masks [#fa.causal<bottom_right>]";

/// A form and extents that make more than two tiles of the output.
struct HopperForm {
  const char *name;
  Form form;
  Extent5 extents;
};

const std::vector<HopperForm> &hopperForms();

/// The form with one more key in its schedule, "cluster=2".
Form withKey(Form form, const std::string &key);

} // namespace farun::test

#endif // FA_UNITTESTS_ATTENTION_HOPPERFORMS_H
