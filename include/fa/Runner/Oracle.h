//===- Oracle.h - from a manifest's entry to the oracle ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry says what its operands mean (roles) and which clauses hold; this
// is the one place that hands them to the oracle.
//
//===----------------------------------------------------------------------===//
#ifndef FA_RUNNER_ORACLE_H
#define FA_RUNNER_ORACLE_H

#include "fa/Reference/Attention.h"
#include "fa/Runner/Compare.h"

#include <map>

namespace farun {

/// Does the oracle know every operand and result of the entry?
bool oracleKnows(const Entry &entry);

/// The problem that an entry states over its inputs (by operand index; the
/// arrays must outlive it). An Error names a role that the oracle lacks.
Expected<faref::Problem> makeProblem(const Entry &entry,
                                     const std::vector<Array> &arrays);

/// What each result of the entry must be, by operand index.
Expected<std::map<int, Expectation>>
expectedResults(const Entry &entry, const faref::Problem &problem,
                unsigned threads = 0);

} // namespace farun

#endif // FA_RUNNER_ORACLE_H
