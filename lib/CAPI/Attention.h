//===- Attention.h - fa_attention as text and as an entry -------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_ATTENTION_H
#define FA_LIB_CAPI_ATTENTION_H

#include "Failure.h"

#include "fa/Reference/Attention.h"
#include "fa/Support/Manifest.h"

namespace facapi {

/// An fa_attention whose words and numbers were looked at. Whether its clauses
/// go together, the verifier of the op says.
class AttentionOp {
public:
  Outcome read(const fa_attention *given);

  /// A function @attention that computes it and nothing else.
  std::string text() const;

  /// Names the region in which a failure of text() is located, as argument.
  void blameRegion(Failure &failure) const;

  /// What a manifest would say of it; without parameters and launches.
  farun::Entry entry() const;

  /// The clause that only text can state, for which there is no oracle; null
  /// when there is none.
  const char *findRegion() const;

  const fa_attention &description() const { return op; }
  faref::Precision precisionKind() const;

private:
  Outcome readWords();
  Outcome readNumbers();
  Outcome readMasks();
  Outcome readBroadcast(const fa_broadcast &operand, const char *role);
  void addOperands();
  void addBroadcast(const fa_broadcast &operand, const char *role);
  void addRow(const char *role, farun::ElementType type,
              std::vector<std::string> dims);
  void addResults();
  int64_t extent(const std::string &dim) const;
  std::string clauses() const;
  std::string maskText() const;
  std::string attributes() const;

  fa_attention op = {};
  farun::ElementType type = farun::ElementType::F16, outType = type;
  std::string layout = "bhsd", precision = "ieee", emptyRow = "zero";
  std::string score, visible;
  std::vector<farun::StructuralMask> masks;
  std::vector<farun::Operand> operands;
};

} // namespace facapi

#endif // FA_LIB_CAPI_ATTENTION_H
