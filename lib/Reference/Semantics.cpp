//===- Semantics.cpp - who sees whom, and with what score -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One small function a clause. A clause to come adds its line to isVisible or
// to score, and nothing anywhere else.
//
//===----------------------------------------------------------------------===//
#include "Semantics.h"

#include "Philox.h"
#include "Region.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace faref {

using farun::Error;
using farun::Expected;
using farun::inputError;
using farun::shapeText;
using farun::Status;
using farun::StructuralMask;

namespace {

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// [B, H, S, D] strides of an operand in either layout.
View4 inHeadOrder(const ArrayView &operand, bool isBSHD) {
  View4 view;
  view.base = operand;
  const std::vector<int64_t> &s = operand.strides;
  view.strides = isBSHD ? std::array<int64_t, 4>{s[0], s[2], s[1], s[3]}
                        : std::array<int64_t, 4>{s[0], s[1], s[2], s[3]};
  return view;
}

Error mismatch(const char *what, int64_t a, int64_t b) {
  return inputError(std::string(what) + ": " + std::to_string(a) + " and " +
                    std::to_string(b));
}

} // namespace

Expected<Semantics> Semantics::create(const Problem &problem) {
  Semantics semantics(problem);
  if (Status status = semantics.readShapes(); !status)
    return status.takeError();
  return semantics;
}

Status Semantics::readShapes() {
  const Problem &p = *problem;
  for (const ArrayView *operand : {&p.query, &p.key, &p.value})
    if (operand->rank() != 4)
      return inputError("query, key and value need 4 dimensions, found " +
                        shapeText(operand->shape));
  int head = p.isBSHD ? 2 : 1, sequence = p.isBSHD ? 1 : 2;
  batch = p.query.shape[0];
  queryHeads = p.query.shape[head];
  queries = p.query.shape[sequence];
  headDim = p.query.shape[3];
  kvHeads = p.key.shape[head];
  keys = p.key.shape[sequence];
  valueDim = p.value.shape[3];
  if (p.key.shape[0] != batch)
    return mismatch("query and key differ in batch", batch, p.key.shape[0]);
  if (p.key.shape[3] != headDim)
    return mismatch("query and key differ in head dimension", headDim,
                    p.key.shape[3]);
  for (int d = 0; d < 3; ++d)
    if (p.key.shape[d] != p.value.shape[d])
      return inputError(
          "key and value differ in shape: " + shapeText(p.key.shape) + " and " +
          shapeText(p.value.shape));
  if (queryHeads == 0 || kvHeads == 0 || queryHeads % kvHeads != 0)
    return mismatch(
        "query heads must be a positive multiple of key/value heads",
        queryHeads, kvHeads);
  query = inHeadOrder(p.query, p.isBSHD);
  key = inHeadOrder(p.key, p.isBSHD);
  value = inHeadOrder(p.value, p.isBSHD);
  if (Status status = readBroadcast(p.bias, "bias", bias); !status)
    return status;
  if (Status status = readBroadcast(p.mask, "mask", mask); !status)
    return status;
  if (Status status = checkSegments(); !status)
    return status;
  if (p.score)
    if (Status s = checkRegion(*p.score, "score",
                               farun::RegionProgram::kScoreArguments);
        !s)
      return s;
  if (p.visible)
    if (Status s = checkRegion(*p.visible, "visible",
                               farun::RegionProgram::kVisibleArguments);
        !s)
      return s;
  if (Status s = checkVector(p.alibi, "alibi", queryHeads, "Hq"); !s)
    return s;
  if (Status s = checkVector(p.sink, "sink", queryHeads, "Hq"); !s)
    return s;
  if (Status s = checkVector(p.qLengths, "q_lengths", batch, "B"); !s)
    return s;
  return checkVector(p.kvLengths, "kv_lengths", batch, "B");
}

Status Semantics::readBroadcast(const std::optional<ArrayView> &operand,
                                const char *name, View4 &view) {
  if (!operand)
    return {};
  const int64_t full[4] = {batch, queryHeads, queries, keys};
  if (operand->rank() > 4)
    return inputError(std::string(name) + " has more than 4 dimensions: " +
                      shapeText(operand->shape));
  view.base = *operand;
  for (int64_t n = 1; n <= operand->rank(); ++n) {
    int64_t extent = operand->shape[size_t(operand->rank() - n)];
    if (extent == full[4 - n])
      view.strides[size_t(4 - n)] =
          operand->strides[size_t(operand->rank() - n)];
    else if (extent != 1)
      return inputError(std::string(name) + " of shape " +
                        shapeText(operand->shape) + " does not broadcast to " +
                        shapeText({batch, queryHeads, queries, keys}));
  }
  return {};
}

Status Semantics::checkSegments() const {
  struct Side {
    const std::optional<ArrayView> &operand;
    const char *name;
    int64_t length;
  };
  const Side query = {problem->qSegments, "q_segments", queries};
  const Side key = {problem->kvSegments, "kv_segments", keys};
  if (!query.operand != !key.operand)
    return inputError(std::string(query.operand ? query.name : key.name) +
                      " is given alone; segments are of queries and keys");
  for (const Side &side : {query, key}) {
    std::vector<int64_t> accepted = {batch, side.length};
    if (side.operand && side.operand->shape != accepted)
      return inputError(std::string(side.name) + " has shape " +
                        shapeText(side.operand->shape) + " and must be " +
                        shapeText(accepted));
  }
  return {};
}

Status Semantics::checkVector(const std::optional<ArrayView> &operand,
                              const char *name, int64_t extent,
                              const char *extentName) const {
  if (!operand)
    return {};
  if (operand->rank() != 1 || operand->shape[0] != extent)
    return inputError(std::string(name) + " has shape " +
                      shapeText(operand->shape) + " and must have " +
                      std::to_string(extent) + " elements (" + extentName +
                      ")");
  if (std::string_view(name).find("_lengths") == std::string_view::npos)
    return {};
  int64_t limit = name[0] == 'q' ? queries : keys;
  for (int64_t b = 0; b < extent; ++b) {
    double length = operand->at(b * operand->strides[0]);
    if (!(length >= 0 && length <= double(limit)))
      return inputError(std::string(name) + "[" + std::to_string(b) + "] is " +
                        std::to_string(int64_t(length)) + ", outside 0.." +
                        std::to_string(limit));
  }
  return {};
}

int64_t Semantics::validQueries(int64_t b) const {
  const std::optional<ArrayView> &lengths = problem->qLengths;
  return lengths ? int64_t(lengths->at(b * lengths->strides[0])) : queries;
}

int64_t Semantics::validKeys(int64_t b) const {
  const std::optional<ArrayView> &lengths = problem->kvLengths;
  return lengths ? int64_t(lengths->at(b * lengths->strides[0])) : keys;
}

int64_t Semantics::offset(int64_t b, bool isBottomRight) const {
  return isBottomRight ? validKeys(b) - validQueries(b) : 0;
}

bool Semantics::maskAllows(const StructuralMask &mask, int64_t b, int64_t i,
                           int64_t j) const {
  int64_t position = i + offset(b, mask.isBottomRight);
  switch (mask.kind) {
  case StructuralMask::Kind::Causal:
    return j <= position || j < mask.prefix;
  case StructuralMask::Kind::Window:
    return (mask.left < 0 || position - j <= mask.left) &&
           (mask.right < 0 || j - position <= mask.right);
  case StructuralMask::Kind::Chunk:
    return floorDiv(position, mask.size) == floorDiv(j, mask.size);
  }
  return true;
}

bool Semantics::isStructurallyVisible(int64_t b, int64_t i, int64_t j) const {
  if (i >= validQueries(b) || j >= validKeys(b))
    return false;
  for (const StructuralMask &structural : problem->masks)
    if (!maskAllows(structural, b, i, j))
      return false;
  return true;
}

bool Semantics::sharesSegment(int64_t b, int64_t i, int64_t j) const {
  auto number = [b](const ArrayView &segments, int64_t position) {
    return segments.at(b * segments.strides[0] +
                       position * segments.strides[1]);
  };
  return number(*problem->qSegments, i) == number(*problem->kvSegments, j);
}

bool Semantics::isVisible(int64_t b, int64_t h, int64_t i, int64_t j) const {
  return isStructurallyVisible(b, i, j) &&
         (!problem->mask || mask.at(b, h, i, j) != 0.0) &&
         (!problem->qSegments || sharesSegment(b, i, j)) &&
         (!problem->visible || evaluateVisible(*problem->visible, b, h, i, j));
}

double Semantics::alibi(int64_t b, int64_t h, int64_t i, int64_t j) const {
  // ALiBi counts distances as the causal mask does, bottom_right without one.
  bool isBottomRight = true;
  for (const StructuralMask &structural : problem->masks)
    if (structural.kind == StructuralMask::Kind::Causal)
      isBottomRight = structural.isBottomRight;
  double slope = problem->alibi->at(h * problem->alibi->strides[0]);
  return -slope * std::abs(double(i + offset(b, isBottomRight) - j));
}

template <typename T> T Semantics::cappedScore(T dot) const {
  T s = T(problem->scale) * dot;
  if (problem->softcap)
    s = T(*problem->softcap) * std::tanh(s / T(*problem->softcap));
  return s;
}

constexpr double kLargest = std::numeric_limits<float>::max();

/// A number beyond those of f32 is infinite.
template <typename T> static T asF32(T number) {
  return std::abs(number) > kLargest
             ? std::copysign(std::numeric_limits<T>::infinity(), number)
             : number;
}

/// In base 2 a score is an f32 too. One that is an f32 in natural units alone
/// stays finite where a region or a wide bias may have made it, and as a sink.
template <typename T> static T inRange(T score, bool staysFinite) {
  constexpr double kLargestNatural = kLargest * 0.69314718055994531;
  score = asF32(score);
  if (!(std::abs(score) > kLargestNatural))
    return score;
  if (staysFinite && std::isfinite(score))
    return std::copysign(T(kLargestNatural), score);
  return std::copysign(std::numeric_limits<T>::infinity(), score);
}

template <typename T>
T Semantics::score(T dot, int64_t b, int64_t h, int64_t i, int64_t j) const {
  T s = cappedScore(dot);
  if (problem->score)
    s = evaluateScore(*problem->score, asF32(s), b, h, i, j);
  if (problem->alibi)
    s += T(alibi(b, h, i, j));
  if (problem->bias)
    s += T(bias.at(b, h, i, j));
  bool isWide = problem->bias && problem->bias->type != ElementType::F16;
  return inRange(s, problem->score || isWide);
}
template double Semantics::score(double, int64_t, int64_t, int64_t,
                                 int64_t) const;
template float Semantics::score(float, int64_t, int64_t, int64_t,
                                int64_t) const;

double Semantics::added(double dot, int64_t b, int64_t h, int64_t i,
                        int64_t j) const {
  double sum = 0.0;
  if (problem->score) {
    double before = cappedScore(dot);
    sum = evaluateScore(*problem->score, before, b, h, i, j) - before;
  }
  if (problem->alibi)
    sum += alibi(b, h, i, j);
  if (problem->bias)
    sum += bias.at(b, h, i, j);
  return std::abs(sum);
}

double Semantics::sink(int64_t h) const {
  return problem->sink
             ? inRange(problem->sink->at(h * problem->sink->strides[0]),
                       /*staysFinite=*/true)
             : -std::numeric_limits<double>::infinity();
}

double Semantics::keptWeight(int64_t b, int64_t h, int64_t i, int64_t j) const {
  if (!problem->dropout)
    return 1.0;
  auto [probability, seed] = *problem->dropout;
  Philox4 counter = {uint32_t(j), uint32_t(i), uint32_t(h), uint32_t(b)};
  uint32_t word = philox4x32(counter, uint32_t(seed), uint32_t(seed >> 32))[0];
  bool isDropped = double(word) < std::floor(probability * 0x1p32);
  return isDropped ? 0.0 : 1.0 / (1.0 - probability);
}

} // namespace faref
