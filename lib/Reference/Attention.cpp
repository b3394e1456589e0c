//===- Attention.cpp - attention in double precision ----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each batch and K/V head, K (transposed) and V are converted once; then
// every row is two passes: scores, then weights times V, over its visible keys
// only. Products run along keys and along value columns, so the inner loops
// are contiguous and a NaN in a masked key stays in that key's own slot.
//
//===----------------------------------------------------------------------===//
#include "fa/Reference/Attention.h"

#include "Semantics.h"

#include "fa/Support/Float16.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace faref {

using farun::Expected;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastWeight = std::numeric_limits<double>::denorm_min();
/// Below this many multiply-adds a second thread costs more than it brings.
constexpr int64_t kWorthThreading = 1 << 20;

/// Rounds the 24-bit mantissa to 11 bits, ties to even.
float toTF32(float value) {
  uint32_t bits = farun::toF32Bits(value);
  if ((bits & 0x7f800000u) == 0x7f800000u)
    return value;
  bits += 0xfffu + ((bits >> 13) & 1u);
  return farun::fromF32Bits(bits & ~0x1fffu);
}

/// K transposed and V of one head, in the arithmetic of T.
template <typename T> struct HeadKV {
  std::vector<T> keyT;  ///< [D][Sk]
  std::vector<T> value; ///< [Sk][Dv]

  HeadKV(const Semantics &s, int64_t b, int64_t kvHead, bool roundToTF32) {
    auto convert = [&](double x) {
      return roundToTF32 ? T(toTF32(float(x))) : T(x);
    };
    keyT.resize(size_t(s.headDim * s.keys));
    value.resize(size_t(s.keys * s.valueDim));
    for (int64_t j = 0; j < s.keys; ++j) {
      for (int64_t d = 0; d < s.headDim; ++d)
        keyT[size_t(d * s.keys + j)] = convert(s.key.at(b, kvHead, j, d));
      for (int64_t d = 0; d < s.valueDim; ++d)
        value[size_t(j * s.valueDim + d)] =
            convert(s.value.at(b, kvHead, j, d));
    }
  }
};

/// The keys that take part in a row, and the range that holds them.
struct VisibleKeys {
  std::vector<int64_t> list;
  int64_t begin = 0, end = 0;

  void update() {
    begin = list.empty() ? 0 : list.front();
    end = list.empty() ? 0 : list.back() + 1;
  }
};

/// dots[j] = sum_d q[d] * k[j][d] over a range of keys, in order of d.
template <typename T>
void products(const std::vector<T> &q, const std::vector<T> &keyT, int64_t keys,
              const VisibleKeys &visible, T *__restrict dots) {
  for (int64_t j = visible.begin; j < visible.end; ++j)
    dots[j] = 0;
  for (size_t d = 0; d < q.size(); ++d) {
    const T *__restrict k = keyT.data() + int64_t(d) * keys;
    T factor = q[d];
    for (int64_t j = visible.begin; j < visible.end; ++j)
      dots[j] += factor * k[j];
  }
}

/// sum[d] += p * v[d] (of |v| when Absolute).
template <bool Absolute, typename T>
void accumulate(T p, const T *__restrict v, std::vector<T> &sum) {
  T *__restrict target = sum.data();
  for (size_t d = 0; d < sum.size(); ++d)
    target[d] += p * (Absolute ? std::abs(v[d]) : v[d]);
}

/// Computes rows of one (batch, K/V head); one object a thread.
class RowWorker {
public:
  RowWorker(const Problem &problem, const Semantics &s,
            const HeadKV<double> &exact, const HeadKV<float> *plain,
            Result &result)
      : problem(problem), s(s), exact(exact), plain(plain), result(result),
        scores(size_t(s.keys)), kept(size_t(s.keys)),
        plainScores(size_t(plain ? s.keys : 0)), q(size_t(s.headDim)),
        out(size_t(s.valueDim)) {}

  void run(int64_t b, int64_t h, int64_t i) {
    findVisible(b, h, i);
    computeScores(b, h, i);
    finishRow(b, h, i);
  }

private:
  void findVisible(int64_t b, int64_t h, int64_t i) {
    visible.list.clear();
    for (int64_t j = 0, end = s.validKeys(b); j < end; ++j)
      if (s.isVisible(b, h, i, j))
        visible.list.push_back(j);
    visible.update();
  }

  /// scores[j] of the visible keys; a key whose score is -inf is blocked.
  void computeScores(int64_t b, int64_t h, int64_t i) {
    for (int64_t d = 0; d < s.headDim; ++d)
      q[size_t(d)] = s.query.at(b, h, i, d);
    products(q, exact.keyT, s.keys, visible, scores.data());
    dots = scores;
    auto isBlocked = [&](int64_t j) {
      double &score = scores[size_t(j)];
      score = s.score(score, b, h, i, j);
      return score == -kInfinity;
    };
    std::vector<int64_t> &list = visible.list;
    list.erase(std::remove_if(list.begin(), list.end(), isBlocked), list.end());
    visible.update();
  }

  void finishRow(int64_t b, int64_t h, int64_t i) {
    bool isPadding = i >= s.validQueries(b);
    double sink = isPadding ? -kInfinity : s.sink(h);
    if (visible.list.empty() && sink == -kInfinity)
      return finishEmptyRow(b, h, i, isPadding);
    double maximum = sink;
    bool isPoisoned = std::isnan(sink) || sink == kInfinity;
    for (int64_t j : visible.list) {
      double score = scores[size_t(j)];
      isPoisoned |= std::isnan(score) || score == kInfinity;
      maximum = std::max(maximum, score);
    }
    if (isPoisoned) {
      std::fill(out.begin(), out.end(), kNaN);
      return store(b, h, i, kNaN);
    }
    for (int64_t j : visible.list)
      kept[size_t(j)] = s.keptWeight(b, h, i, j);
    double sum = std::exp(sink - maximum);
    std::fill(out.begin(), out.end(), 0.0);
    for (int64_t j : visible.list) {
      // Never 0: a visible key with an infinite value counts.
      double p = std::max(std::exp(scores[size_t(j)] - maximum), kLeastWeight);
      sum += p;
      // A dropped value has no influence, not even when it is NaN.
      if (double weight = p * kept[size_t(j)]; weight != 0.0)
        accumulate<false>(weight, exact.value.data() + j * s.valueDim, out);
    }
    for (double &x : out)
      x /= sum;
    double lse = maximum + std::log(sum);
    store(b, h, i, lse);
    if (plain)
      gatherEvidence(b, h, i, lse, sink);
  }

  void finishEmptyRow(int64_t b, int64_t h, int64_t i, bool isPadding) {
    std::fill(out.begin(), out.end(), 0.0);
    if (isPadding || problem.emptyRow == EmptyRow::Zero)
      return store(b, h, i, -kInfinity);
    if (problem.emptyRow == EmptyRow::NaN) {
      std::fill(out.begin(), out.end(), kNaN);
      return store(b, h, i, kNaN);
    }
    // Every key of the sequence with the same weight: scores of 0, none
    // dropped.
    std::fill(kept.begin(), kept.end(), 1.0);
    visible.list.clear();
    for (int64_t j = 0; j < s.validKeys(b); ++j) {
      visible.list.push_back(j);
      scores[size_t(j)] = 0.0;
      accumulate<false>(1.0, exact.value.data() + j * s.valueDim, out);
    }
    visible.update();
    for (double &x : out)
      x /= std::max<double>(1.0, double(visible.list.size()));
    store(b, h, i, -kInfinity);
    if (plain && !visible.list.empty())
      gatherUniformEvidence(b, h, i);
  }

  int64_t row(int64_t b, int64_t h, int64_t i) const {
    return (b * s.queryHeads + h) * s.queries + i;
  }

  void store(int64_t b, int64_t h, int64_t i, double lse) {
    result.lse[size_t(row(b, h, i))] = lse;
    for (int64_t d = 0; d < s.valueDim; ++d)
      result
          .out[size_t(outIndex(result.outShape, problem.isBSHD, b, h, i, d))] =
          out[size_t(d)];
  }

  void gatherEvidence(int64_t b, int64_t h, int64_t i, double lse,
                      double sink) {
    Evidence &evidence = result.evidence;
    int64_t r = row(b, h, i);
    sumWeights(r, [&](int64_t j) {
      return std::exp(scores[size_t(j)] - lse) * kept[size_t(j)];
    });

    // A[i]: the products of magnitudes, in the scores' memory.
    for (double &x : q)
      x = std::abs(x);
    absolute.resize(exact.keyT.size() ? size_t(s.keys) : 0);
    absoluteProducts();
    double largest = 0.0;
    for (int64_t j : visible.list)
      largest =
          std::max(largest, std::abs(problem.scale) * absolute[size_t(j)] +
                                s.added(dots[size_t(j)], b, h, i, j));
    evidence.scoreScale[size_t(r)] = largest;

    plainQ.resize(size_t(s.headDim));
    for (int64_t d = 0; d < s.headDim; ++d) {
      float x = float(s.query.at(b, h, i, d));
      plainQ[size_t(d)] = usesTF32() ? toTF32(x) : x;
    }
    products(plainQ, plain->keyT, s.keys, visible, plainScores.data());
    for (int64_t j : visible.list)
      plainScores[size_t(j)] = s.score(plainScores[size_t(j)], b, h, i, j);
    finishPlain(r, float(sink));
  }

  void gatherUniformEvidence(int64_t b, int64_t h, int64_t i) {
    int64_t r = row(b, h, i);
    double weight = 1.0 / double(visible.list.size());
    sumWeights(r, [&](int64_t) { return weight; });
    for (int64_t j : visible.list)
      plainScores[size_t(j)] = 0.0f;
    finishPlain(r, -std::numeric_limits<float>::infinity());
  }

  /// sum_j p * |v| and max_j |v| of row r.
  template <typename Weight> void sumWeights(int64_t r, Weight weight) {
    std::vector<double> sum(static_cast<size_t>(s.valueDim));
    std::vector<double> largest(sum.size());
    for (int64_t j : visible.list) {
      const double *v = exact.value.data() + j * s.valueDim;
      if (kept[size_t(j)] != 0.0)
        accumulate<true>(weight(j), v, sum);
      for (size_t d = 0; d < largest.size(); ++d)
        largest[d] = std::max(largest[d], std::abs(v[d]));
    }
    std::copy(sum.begin(), sum.end(),
              result.evidence.weightedV.begin() + r * s.valueDim);
    std::copy(largest.begin(), largest.end(),
              result.evidence.largestV.begin() + r * s.valueDim);
  }

  void absoluteProducts() {
    double *__restrict dots = absolute.data();
    for (int64_t j = visible.begin; j < visible.end; ++j)
      dots[j] = 0;
    for (size_t d = 0; d < q.size(); ++d) {
      const double *__restrict k = exact.keyT.data() + int64_t(d) * s.keys;
      double factor = q[d];
      for (int64_t j = visible.begin; j < visible.end; ++j)
        dots[j] += factor * std::abs(k[j]);
    }
  }

  bool usesTF32() const {
    return problem.query.type == ElementType::F32 &&
           problem.precision == Precision::TF32;
  }

  float roundWeight(float p) const {
    if (usesTF32())
      return toTF32(p);
    if (problem.query.type == ElementType::F32)
      return p;
    return float(farun::roundTo(problem.query.type, p));
  }

  /// Softmax and P.V of plainScores in f32, and how far it ends from O64.
  void finishPlain(int64_t r, float sink) {
    float maximum = sink;
    for (int64_t j : visible.list)
      maximum = std::max(maximum, plainScores[size_t(j)]);
    float sum = std::exp(sink - maximum);
    std::vector<float> acc(static_cast<size_t>(s.valueDim));
    for (int64_t j : visible.list) {
      float p = std::exp(plainScores[size_t(j)] - maximum);
      sum += p;
      float weight = roundWeight(p * float(kept[size_t(j)]));
      if (kept[size_t(j)] == 0.0)
        continue;
      accumulate<false>(weight, plain->value.data() + j * s.valueDim, acc);
    }
    double error = 0.0;
    for (size_t d = 0; d < acc.size(); ++d) {
      double value = farun::roundTo(problem.outType, acc[d] / sum);
      result.evidence.plain[size_t(r * s.valueDim) + d] = value;
      // An element that overflows the output type says nothing of the others.
      double difference = std::abs(value - out[d]);
      if (std::isfinite(difference))
        error = std::max(error, difference);
    }
    result.evidence.plainError[size_t(r)] = error;
  }

  const Problem &problem;
  const Semantics &s;
  const HeadKV<double> &exact;
  const HeadKV<float> *plain;
  Result &result;
  VisibleKeys visible;
  std::vector<double> scores, absolute;
  std::vector<double> dots; ///< q.k, before the clauses
  std::vector<double> kept; ///< by key: what dropout makes of a weight 1
  std::vector<float> plainScores, plainQ;
  std::vector<double> q, out;
};

/// All rows of one (batch, K/V head), over threads.
void runHead(const Problem &problem, const Semantics &s, int64_t b,
             int64_t kvHead, const Options &options, Result &result) {
  HeadKV<double> exact(s, b, kvHead, /*roundToTF32=*/false);
  std::optional<HeadKV<float>> plain;
  if (options.withEvidence)
    plain.emplace(s, b, kvHead,
                  problem.query.type == ElementType::F32 &&
                      problem.precision == Precision::TF32);
  int64_t group = s.queryHeads / s.kvHeads;
  int64_t rows = group * s.queries;
  auto runRows = [&](int64_t first, int64_t step) {
    RowWorker worker(problem, s, exact, plain ? &*plain : nullptr, result);
    for (int64_t r = first; r < rows; r += step)
      worker.run(b, kvHead * group + r / s.queries, r % s.queries);
  };
  int64_t threads = options.threads
                        ? options.threads
                        : std::max(1u, std::thread::hardware_concurrency());
  int64_t work = rows * s.keys * (s.headDim + s.valueDim);
  threads = work < kWorthThreading ? 1 : std::min(threads, rows);
  // Interleaved, so that causal rows are shared evenly.
  std::vector<std::thread> pool;
  for (int64_t t = 1; t < threads; ++t)
    pool.emplace_back(runRows, t, threads);
  runRows(0, threads);
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace

int64_t outIndex(const std::vector<int64_t> &outShape, bool isBSHD, int64_t b,
                 int64_t h, int64_t i, int64_t d) {
  int64_t second = isBSHD ? i : h, third = isBSHD ? h : i;
  return ((b * outShape[1] + second) * outShape[2] + third) * outShape[3] + d;
}

farun::Status checkProblem(const Problem &problem) {
  Expected<Semantics> semantics = Semantics::create(problem);
  return semantics ? farun::Status() : semantics.takeError();
}

int64_t neededKeyRows(const Problem &problem, int64_t tileQ, int64_t tileKV) {
  Expected<Semantics> semantics = Semantics::create(problem);
  if (!semantics || tileQ < 1 || tileKV < 1)
    return 0;
  const Semantics &s = *semantics;
  int64_t rows = 0;
  auto isNeeded = [&](int64_t b, int64_t firstI, int64_t firstJ) {
    for (int64_t i = firstI; i < std::min(firstI + tileQ, s.queries); ++i)
      for (int64_t j = firstJ; j < std::min(firstJ + tileKV, s.keys); ++j)
        if (s.isStructurallyVisible(b, i, j))
          return true;
    return false;
  };
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t i = 0; i < s.queries; i += tileQ)
      for (int64_t j = 0; j < s.keys; j += tileKV)
        if (isNeeded(b, i, j))
          rows += std::min(tileKV, std::max<int64_t>(0, s.validKeys(b) - j));
  return rows * s.queryHeads;
}

Expected<Result> attention(const Problem &problem, const Options &options) {
  Expected<Semantics> semantics = Semantics::create(problem);
  if (!semantics)
    return semantics.takeError();
  const Semantics &s = *semantics;
  Result result;
  result.outShape =
      problem.isBSHD
          ? std::vector<int64_t>{s.batch, s.queries, s.queryHeads, s.valueDim}
          : std::vector<int64_t>{s.batch, s.queryHeads, s.queries, s.valueDim};
  result.lseShape = {s.batch, s.queryHeads, s.queries};
  size_t rows = size_t(farun::elementCount(result.lseShape));
  size_t elements = rows * size_t(s.valueDim);
  result.out.resize(elements);
  result.lse.resize(rows);
  if (options.withEvidence) {
    result.evidence.plainError.resize(rows);
    result.evidence.scoreScale.resize(rows);
    result.evidence.weightedV.resize(elements);
    result.evidence.largestV.resize(elements);
    result.evidence.plain.resize(elements);
  }
  if (rows != 0)
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t kvHead = 0; kvHead < s.kvHeads; ++kvHead)
        runHead(problem, s, b, kvHead, options, result);
  return result;
}

} // namespace faref
