//===- Semantics.h - who sees whom, and with what score ---------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle's definition of a score and of visibility, clause by clause in
// the fixed order: scale, softcap, score region, ALiBi, bias, masks, sink,
// dropout. Written from the documentation, never from the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_REFERENCE_SEMANTICS_H
#define FA_LIB_REFERENCE_SEMANTICS_H

#include "fa/Reference/Attention.h"

#include <array>

namespace faref {

/// An operand seen as [B, Hq, Sq, Sk] or [B, H, S, D]: four strides, 0 where
/// it broadcasts.
struct View4 {
  ArrayView base;
  std::array<int64_t, 4> strides = {0, 0, 0, 0};

  double at(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return base.at(a * strides[0] + b * strides[1] + c * strides[2] +
                   d * strides[3]);
  }
};

class Semantics {
public:
  /// Checks that the shapes fit together.
  static farun::Expected<Semantics> create(const Problem &problem);

  int64_t batch = 0, queryHeads = 0, kvHeads = 0;
  int64_t queries = 0, keys = 0, headDim = 0, valueDim = 0;
  View4 query, key, value;

  /// The K/V head that serves query head h.
  int64_t kvHead(int64_t h) const { return h * kvHeads / queryHeads; }

  /// How many queries and keys of batch b are real.
  int64_t validQueries(int64_t b) const;
  int64_t validKeys(int64_t b) const;

  /// By lengths and structural masks alone.
  bool isStructurallyVisible(int64_t b, int64_t i, int64_t j) const;
  bool isVisible(int64_t b, int64_t h, int64_t i, int64_t j) const;

  /// The final logit from q.k, in the arithmetic of T.
  template <typename T>
  T score(T dot, int64_t b, int64_t h, int64_t i, int64_t j) const;

  /// |what the score region, ALiBi and bias add| to the score of q.k = `dot`.
  double added(double dot, int64_t b, int64_t h, int64_t i, int64_t j) const;

  /// The sink's logit of head h; -inf without one.
  double sink(int64_t h) const;

  /// What dropout makes of a weight 1: 0, or 1/(1-p).
  double keptWeight(int64_t b, int64_t h, int64_t i, int64_t j) const;

private:
  explicit Semantics(const Problem &problem) : problem(&problem) {}
  farun::Status readShapes();
  farun::Status readBroadcast(const std::optional<ArrayView> &operand,
                              const char *name, View4 &view);
  farun::Status checkSegments() const;
  farun::Status checkVector(const std::optional<ArrayView> &operand,
                            const char *name, int64_t extent,
                            const char *extentName) const;
  /// What bottom_right adds to i: keys - queries of this batch.
  template <typename T> T cappedScore(T dot) const;
  int64_t offset(int64_t b, bool isBottomRight) const;
  double alibi(int64_t b, int64_t h, int64_t i, int64_t j) const;
  bool sharesSegment(int64_t b, int64_t i, int64_t j) const;
  bool maskAllows(const farun::StructuralMask &mask, int64_t b, int64_t i,
                  int64_t j) const;

  const Problem *problem;
  View4 bias, mask;
};

} // namespace faref

#endif // FA_LIB_REFERENCE_SEMANTICS_H
