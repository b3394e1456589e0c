//===- NumericOptions.cpp - words of the numeric options ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --tensor-model and --approx, for every tool that runs PTX, and the handlers
// that they choose.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/InstructionTable.h"
#include "../Decoder/Modifiers.h"
#include "Handlers.h"
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

uint16_t ptxvm::numericRow(const Instruction &i, const DeviceOptions &options) {
  const InstructionRow &row = instructionRows()[i.row];
  // mma of f16 and bf16 have handlers made for the chain of multiply-adds.
  if (row.category == Category::Mma &&
      options.tensorModel != TensorModel::Fma &&
      std::string_view(row.handler).starts_with("mma_m16n8k"))
    return rowOfHandler("mma_float");
  bool isApproximate = i.mods & (mod::approx_ | mod::full_);
  if (!options.approx.isAdversarial || !isApproximate)
    return i.row;
  uint16_t other = rowOfHandler(std::string(row.handler) + "_adversarial");
  return other ? other : i.row;
}
