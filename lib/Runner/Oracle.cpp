//===- Oracle.cpp - from a manifest's entry to the oracle -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Oracle.h"

#include "fa/Reference/Tolerance.h"

#include <cmath>
#include <cstring>

namespace farun {

namespace {

/// Where an input of this role goes; null for a role without a place.
std::optional<ArrayView> *optionalSlot(faref::Problem &problem,
                                       const std::string &role) {
  if (role == "mask")
    return &problem.mask;
  if (role == "bias")
    return &problem.bias;
  if (role == "alibi")
    return &problem.alibi;
  if (role == "sink")
    return &problem.sink;
  if (role == "q_segments")
    return &problem.qSegments;
  if (role == "kv_segments")
    return &problem.kvSegments;
  if (role == "q_lengths")
    return &problem.qLengths;
  if (role == "kv_lengths")
    return &problem.kvLengths;
  return nullptr;
}

/// A double would lose bits of it.
void placeSeed(faref::Problem &problem, const Array &array) {
  if (!problem.dropout)
    problem.dropout.emplace();
  if (array.bytes.size() == sizeof(problem.dropout->seed))
    std::memcpy(&problem.dropout->seed, array.bytes.data(),
                sizeof(problem.dropout->seed));
}

Status placeUse(faref::Problem &problem, const std::string &role,
                const Array &array) {
  if (role == "query")
    problem.query = array.view();
  else if (role == "key")
    problem.key = array.view();
  else if (role == "value")
    problem.value = array.view();
  else if (role == "scale")
    problem.scale = array.get(0);
  else if (role.rfind("region", 0) == 0)
    return {}; // read by the program of a region
  else if (role == "seed")
    placeSeed(problem, array);
  else if (std::optional<ArrayView> *slot = optionalSlot(problem, role))
    *slot = array.view();
  else
    return inputError("the oracle does not know the operand '" + role +
                      "'; --no-check runs without it");
  return {};
}

Status placeOperand(faref::Problem &problem, const Operand &operand,
                    const Array &array) {
  for (const OperandUse &use : operand.uses())
    if (Status status = placeUse(problem, use.role, array); !status)
      return status;
  return {};
}

} // namespace

bool oracleKnows(const Entry &entry) {
  for (const Operand &operand : entry.operands) {
    faref::Problem slots;
    bool isKnown =
        operand.kind == OperandKind::Output
            ? operand.role == "out" || operand.role == "lse"
            : bool(placeOperand(slots, operand, Array(operand.type, {1})));
    if (!isKnown)
      return false;
  }
  return true;
}

Expected<faref::Problem> makeProblem(const Entry &entry,
                                     const std::vector<Array> &arrays) {
  faref::Problem problem;
  const Attention &attention = entry.attention;
  problem.scale = attention.scale;
  problem.softcap = attention.softcap;
  problem.masks = attention.masks;
  if (attention.dropout)
    problem.dropout = faref::Dropout{*attention.dropout, 0};
  auto region = [&](const std::optional<RegionProgram> &program) {
    std::optional<faref::Region> read;
    if (program) {
      read.emplace().program = *program;
      for (const Array &array : arrays)
        read->operands.push_back(array.view());
    }
    return read;
  };
  problem.score = region(attention.score);
  problem.visible = region(attention.visible);
  problem.isBSHD = attention.layout == "bshd";
  problem.emptyRow = attention.emptyRow == "nan" ? faref::EmptyRow::NaN
                     : attention.emptyRow == "uniform"
                         ? faref::EmptyRow::Uniform
                         : faref::EmptyRow::Zero;
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    const Operand &operand = entry.operands[n];
    if (operand.kind == OperandKind::Output) {
      if (operand.role == "out")
        problem.outType = operand.type;
      continue;
    }
    if (Status status = placeOperand(problem, operand, arrays[n]); !status)
      return status.takeError();
  }
  if (!std::isfinite(problem.scale))
    return inputError("the scale must be a finite number");
  if (Status status = faref::checkProblem(problem); !status)
    return status.takeError();
  return problem;
}

Expected<std::map<int, Expectation>>
expectedResults(const Entry &entry, const faref::Problem &problem,
                unsigned threads) {
  faref::Options options;
  options.withEvidence = true;
  options.threads = threads;
  Expected<faref::Result> result = faref::attention(problem, options);
  if (!result)
    return result.takeError();
  faref::Bounds bounds =
      faref::tolerance(*result, problem.isBSHD, problem.query.type,
                       problem.outType, problem.precision);
  std::map<int, Expectation> expected;
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    const Operand &operand = entry.operands[n];
    if (operand.kind != OperandKind::Output)
      continue;
    if (operand.role == "out")
      expected[int(n)] = {result->outShape, result->out, bounds.out};
    else if (operand.role == "lse")
      expected[int(n)] = {result->lseShape, result->lse, bounds.lse};
    else
      return inputError("the oracle does not know the result '" + operand.role +
                        "'; --no-check runs without it");
  }
  return expected;
}

} // namespace farun
