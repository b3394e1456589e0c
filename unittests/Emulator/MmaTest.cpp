//===- MmaTest.cpp - every dense type of mma.sync -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts by one-hot matrices, identities and small integers (where every order
// of adding gives the same), then random values against chains of fused
// multiply-adds, wrap-around and saturation.
//
//===----------------------------------------------------------------------===//
#include "MmaHarness.h"
#include "SmallFloats.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
MmaForm form(const char *shape, unsigned rows, unsigned depth, const char *dc,
             const char *a, const char *b, unsigned bits, unsigned accumulator,
             const char *tail = "", const char *middle = "") {
  return {shape, middle, dc, a, b, tail, rows, depth, bits, accumulator};
}

const FloatFormat *formatOf(const std::string &type) {
  for (const FloatFormat *f : {&kF16, &kBF16, &kE4M3, &kE5M2, &kTF32})
    if (type == f->name)
      return f;
  return nullptr;
}

/// A small integer as an element of the type.
uint64_t bitsOfInteger(const std::string &type, int value) {
  if (type == "f64")
    return std::bit_cast<uint64_t>(double(value));
  if (type == "f32")
    return bits(float(value));
  if (type == "tf32")
    return uint64_t(kTF32.nearest(value, false)) << 13;
  if (const FloatFormat *f = formatOf(type))
    return f->nearest(value, true);
  if (type == "s32")
    return uint32_t(value);
  unsigned width = type[1] == '8' ? 8 : 4;
  return uint64_t(value) & ((1u << width) - 1);
}

std::vector<MmaForm> floatForms() {
  std::vector<MmaForm> forms = {
      form("m16n8k8", 16, 8, "f32", "f16", "f16", 16, 32),
      form("m16n8k16", 16, 16, "f32", "f16", "f16", 16, 32),
      form("m16n8k8", 16, 8, "f32", "bf16", "bf16", 16, 32),
      form("m16n8k16", 16, 16, "f32", "bf16", "bf16", 16, 32),
      form("m16n8k8", 16, 8, "f16", "f16", "f16", 16, 16),
      form("m16n8k16", 16, 16, "f16", "f16", "f16", 16, 16),
      form("m16n8k4", 16, 4, "f32", "tf32", "tf32", 32, 32),
      form("m16n8k8", 16, 8, "f32", "tf32", "tf32", 32, 32)};
  for (const char *a : {"e4m3", "e5m2"})
    for (const char *b : {"e4m3", "e5m2"}) {
      forms.push_back(form("m16n8k16", 16, 16, "f32", a, b, 8, 32));
      forms.push_back(form("m16n8k32", 16, 32, "f32", a, b, 8, 32));
      forms.push_back(form("m16n8k16", 16, 16, "f16", a, b, 8, 16));
      forms.push_back(form("m16n8k32", 16, 32, "f16", a, b, 8, 16));
    }
  return forms;
}

std::vector<MmaForm> integerForms() {
  std::vector<MmaForm> forms;
  for (const char *a : {"s8", "u8"})
    for (const char *b : {"s8", "u8"}) {
      forms.push_back(form("m8n8k16", 8, 16, "s32", a, b, 8, 32));
      forms.push_back(form("m16n8k16", 16, 16, "s32", a, b, 8, 32));
      forms.push_back(form("m16n8k32", 16, 32, "s32", a, b, 8, 32));
    }
  for (const char *a : {"s4", "u4"})
    for (const char *b : {"s4", "u4"}) {
      forms.push_back(form("m8n8k32", 8, 32, "s32", a, b, 4, 32));
      forms.push_back(form("m16n8k32", 16, 32, "s32", a, b, 4, 32));
      forms.push_back(form("m16n8k64", 16, 64, "s32", a, b, 4, 32));
    }
  return forms;
}

std::vector<MmaForm> allForms() {
  std::vector<MmaForm> forms = floatForms();
  for (const MmaForm &f : integerForms())
    forms.push_back(f);
  forms.push_back(form("m8n8k4", 8, 4, "f64", "f64", "f64", 64, 64));
  forms.push_back(form("m16n8k4", 16, 4, "f64", "f64", "f64", 64, 64));
  forms.push_back(form("m16n8k8", 16, 8, "f64", "f64", "f64", 64, 64));
  forms.push_back(form("m16n8k16", 16, 16, "f64", "f64", "f64", 64, 64));
  return forms;
}

Matrix zeros(unsigned rows, unsigned columns) {
  return Matrix(rows, std::vector<uint64_t>(columns));
}

#define ASSERT_MMA(r, f)                                                       \
  ASSERT_TRUE((r).report.ok())                                                 \
      << (f).opcode() << ": " << (r).report.diagnostics.at(0).str()

TEST(Mma, oneHotElementsMeetInTheirPlace) {
  // A one at (m, k) and one at (k, n) give a one at (m, n), and nothing else.
  for (const MmaForm &f : allForms()) {
    Random random{f.depth};
    for (unsigned k = 0; k < f.depth; ++k) {
      unsigned m = random.below(f.rows), n = random.below(8);
      Matrix a = zeros(f.rows, f.depth), b = zeros(f.depth, 8);
      a[m][k] = bitsOfInteger(f.a, 1);
      b[k][n] = bitsOfInteger(f.b, 1);
      // Ones beside the meeting point must not be seen.
      a[m][(k + 1) % f.depth] = bitsOfInteger(f.a, 2);
      MmaResult r = runMma(f, a, b, zeros(f.rows, 8));
      ASSERT_MMA(r, f);
      for (unsigned row = 0; row < f.rows; ++row)
        for (unsigned column = 0; column < 8; ++column)
          ASSERT_EQ(r.d[row][column],
                    bitsOfInteger(f.dc, row == m && column == n))
              << f.opcode() << " " << row << " " << column << " k " << k;
    }
  }
}

TEST(Mma, smallIntegersMultiplyLikeAnyMatrix) {
  for (const MmaForm &f : allForms()) {
    Random random{f.depth * 7 + f.rows};
    int low = f.a[0] == 'u' ? 0 : -2, lowB = f.b[0] == 'u' ? 0 : -2;
    std::vector<std::vector<int>> x(f.rows, std::vector<int>(f.depth));
    std::vector<std::vector<int>> y(f.depth, std::vector<int>(8));
    Matrix a = zeros(f.rows, f.depth), b = zeros(f.depth, 8),
           c = zeros(f.rows, 8);
    std::vector<std::vector<int>> sum(f.rows, std::vector<int>(8));
    for (unsigned m = 0; m < f.rows; ++m)
      for (unsigned k = 0; k < f.depth; ++k)
        a[m][k] = bitsOfInteger(f.a, x[m][k] = low + int(random.below(5)));
    for (unsigned k = 0; k < f.depth; ++k)
      for (unsigned n = 0; n < 8; ++n)
        b[k][n] = bitsOfInteger(f.b, y[k][n] = lowB + int(random.below(5)));
    for (unsigned m = 0; m < f.rows; ++m)
      for (unsigned n = 0; n < 8; ++n) {
        c[m][n] = bitsOfInteger(f.dc, sum[m][n] = int(random.below(9)) - 4);
        for (unsigned k = 0; k < f.depth; ++k)
          sum[m][n] += x[m][k] * y[k][n];
      }
    // All models agree where nothing is cut off.
    for (TensorModel model :
         {TensorModel::Fma, TensorModel::Ampere, TensorModel::Hopper}) {
      DeviceOptions options;
      options.tensorModel = model;
      MmaResult r = runMma(f, a, b, c, options);
      ASSERT_MMA(r, f);
      for (unsigned m = 0; m < f.rows; ++m)
        for (unsigned n = 0; n < 8; ++n)
          ASSERT_EQ(r.d[m][n], bitsOfInteger(f.dc, sum[m][n]))
              << f.opcode() << " " << m << " " << n;
    }
  }
}

/// The value of an element as f32.
float valueOf(const std::string &type, uint64_t x) {
  if (type == "tf32")
    return float(kTF32.value(uint32_t(x >> 13)));
  return float(formatOf(type)->value(uint32_t(x)));
}

TEST(Mma, floatsAreChainsOfFusedMultiplyAdds) {
  for (const MmaForm &f : floatForms()) {
    Random random{f.depth * 31 + f.accumulatorBits};
    const FloatFormat &fa = *formatOf(f.a), &fb = *formatOf(f.b);
    // Random bits with middling exponents.
    auto draw = [&](const FloatFormat &t) -> uint64_t {
      double x = std::ldexp(1 + double(random.below(1 << 20)) / (1 << 20),
                            int(random.below(6)) - 3);
      uint64_t h = t.nearest(random.below(2) ? x : -x, true);
      return &t == &kTF32 ? h << 13 | random.below(1 << 13) : h;
    };
    Matrix a = zeros(f.rows, f.depth), b = zeros(f.depth, 8),
           c = zeros(f.rows, 8);
    for (auto &row : a)
      for (uint64_t &x : row)
        x = draw(fa);
    for (auto &row : b)
      for (uint64_t &x : row)
        x = draw(fb);
    for (auto &row : c)
      for (uint64_t &x : row)
        x = f.accumulatorBits == 16 ? draw(kF16)
                                    : bits(float(kBF16.value(draw(kBF16))));
    MmaResult r = runMma(f, a, b, c);
    ASSERT_MMA(r, f);
    for (unsigned m = 0; m < f.rows; ++m)
      for (unsigned n = 0; n < 8; ++n) {
        bool isHalf = f.accumulatorBits == 16;
        float want = isHalf ? float(kF16.value(uint32_t(c[m][n])))
                            : asFloat(uint32_t(c[m][n]));
        for (unsigned k = 0; k < f.depth; ++k)
          want = std::fmaf(valueOf(f.a, a[m][k]), valueOf(f.b, b[k][n]), want);
        ASSERT_EQ(r.d[m][n], isHalf ? kF16.nearest(want, false) : bits(want))
            << f.opcode() << " " << m << " " << n;
      }
  }
}

int64_t integerValue(const std::string &type, uint64_t x) {
  if (type == "s8")
    return int8_t(x);
  if (type == "s4")
    return int64_t(x & 15) - (x & 8 ? 16 : 0);
  return int64_t(x);
}

TEST(Mma, integersWrapOrSaturate) {
  for (bool saturates : {false, true})
    for (MmaForm f : integerForms()) {
      f.middle = saturates ? "satfinite." : "";
      Random random{f.depth * 3 + f.rows};
      Matrix a = zeros(f.rows, f.depth), b = zeros(f.depth, 8),
             c = zeros(f.rows, 8);
      for (auto &row : a)
        for (uint64_t &x : row)
          x = random.below(1u << f.bits);
      for (auto &row : b)
        for (uint64_t &x : row)
          x = random.below(1u << f.bits);
      const uint32_t kEdges[] = {0x7FFFFFFF, 0x80000000, 0, 0x7FFFFF00};
      for (auto &row : c)
        for (uint64_t &x : row)
          x = kEdges[random.below(4)];
      MmaResult r = runMma(f, a, b, c);
      ASSERT_MMA(r, f);
      for (unsigned m = 0; m < f.rows; ++m)
        for (unsigned n = 0; n < 8; ++n) {
          int64_t want = int32_t(c[m][n]);
          for (unsigned k = 0; k < f.depth; ++k)
            want += integerValue(f.a, a[m][k]) * integerValue(f.b, b[k][n]);
          if (saturates)
            want = std::min<int64_t>(std::max<int64_t>(want, INT32_MIN),
                                     INT32_MAX);
          ASSERT_EQ(r.d[m][n], uint32_t(want))
              << f.opcode() << " " << m << " " << n;
        }
    }
}

TEST(Mma, bitsAreCombinedAndCounted) {
  const MmaForm kForms[] = {
      form("m8n8k128", 8, 128, "s32", "b1", "b1", 1, 32),
      form("m16n8k128", 16, 128, "s32", "b1", "b1", 1, 32),
      form("m16n8k256", 16, 256, "s32", "b1", "b1", 1, 32)};
  for (bool isAnd : {false, true})
    for (MmaForm f : kForms) {
      f.tail = isAnd ? ".and.popc" : ".xor.popc";
      Random random{f.depth + f.rows};
      Matrix a = zeros(f.rows, f.depth), b = zeros(f.depth, 8),
             c = zeros(f.rows, 8);
      for (auto &row : a)
        for (uint64_t &x : row)
          x = random.below(2);
      for (auto &row : b)
        for (uint64_t &x : row)
          x = random.below(2);
      for (auto &row : c)
        for (uint64_t &x : row)
          x = random.below(1000);
      MmaResult r = runMma(f, a, b, c);
      ASSERT_MMA(r, f);
      for (unsigned m = 0; m < f.rows; ++m)
        for (unsigned n = 0; n < 8; ++n) {
          uint64_t want = c[m][n];
          for (unsigned k = 0; k < f.depth; ++k)
            want += isAnd ? a[m][k] & b[k][n] : a[m][k] ^ b[k][n];
          ASSERT_EQ(r.d[m][n], want) << f.opcode() << " " << m << " " << n;
        }
    }
}

TEST(Mma, doublesRoundAsTheyAreTold) {
  // 1 + 2^-60 lies between 1 and its neighbour.
  double up = std::nextafter(1.0, 2.0), down = 1.0;
  const std::pair<const char *, double> kModes[] = {
      {"", down}, {"rn.", down}, {"rz.", down}, {"rm.", down}, {"rp.", up}};
  for (auto [mode, want] : kModes) {
    MmaForm f = form("m16n8k8", 16, 8, "f64", "f64", "f64", 64, 64, "", mode);
    Matrix a = zeros(16, 8), b = zeros(8, 8), c = zeros(16, 8);
    a[3][5] = b[5][6] = std::bit_cast<uint64_t>(std::ldexp(1.0, -30));
    c[3][6] = std::bit_cast<uint64_t>(1.0);
    MmaResult r = runMma(f, a, b, c);
    ASSERT_MMA(r, f);
    EXPECT_EQ(r.d[3][6], std::bit_cast<uint64_t>(want)) << mode;
  }
}

TEST(Mma, formsThatDoNotExistAreRefused) {
  const MmaForm kForms[] = {
      form("m16n8k32", 16, 32, "f32", "f16", "f16", 16, 32),
      form("m16n8k16", 16, 16, "f16", "bf16", "bf16", 16, 16),
      form("m16n8k16", 16, 16, "f32", "f16", "bf16", 16, 32),
      form("m16n8k64", 16, 64, "s32", "s8", "s8", 8, 32),
      form("m16n8k32", 16, 32, "f32", "e4m3", "e4m3", 8, 32, "",
           "kind::f8f6f4.")};
  for (const MmaForm &f : kForms) {
    MmaResult r =
        runMma(f, zeros(f.rows, f.depth), zeros(f.depth, 8), zeros(f.rows, 8));
    ASSERT_EQ(r.report.status, Status::Invalid) << f.opcode();
    EXPECT_NE(r.report.diagnostics[0].message.find("unsupported instruction"),
              std::string::npos)
        << r.report.diagnostics[0].str();
  }
}
} // namespace
