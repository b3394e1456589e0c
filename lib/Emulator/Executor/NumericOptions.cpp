//===- NumericOptions.cpp - words of the numeric options ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --tensor-model and --approx, for every tool that runs PTX.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Numerics.h"

#include <charconv>

using namespace ptxvm;

static Diagnostic unknown(const char *accepted) {
  Diagnostic d;
  d.origin = "options";
  d.message = std::string("is unknown; accepted is ") + accepted;
  return d;
}

Expected<TensorModel> ptxvm::parseTensorModel(const std::string &text) {
  if (text == "fma")
    return TensorModel::Fma;
  if (text == "ampere")
    return TensorModel::Ampere;
  if (text == "hopper")
    return TensorModel::Hopper;
  return unknown("fma (f32 chains), ampere or hopper");
}

Expected<ApproxPolicy> ApproxPolicy::parse(const std::string &text) {
  if (text == "exact")
    return ApproxPolicy{};
  const std::string prefix = "adversarial:";
  if (text.starts_with(prefix)) {
    ApproxPolicy policy{true, 0};
    const char *first = text.data() + prefix.size();
    const char *last = text.data() + text.size();
    auto [end, problem] = std::from_chars(first, last, policy.seed);
    if (problem == std::errc() && end == last && first != last)
      return policy;
  }
  return unknown("exact (correctly rounded) or adversarial:SEED");
}
