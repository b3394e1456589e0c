//===- WgmmaTest.cpp - warpgroup products ---------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every type, shape, layout and flag of wgmma.mma_async against three loops,
// with a second walk over the descriptors (WgmmaHarness.h), and what is
// refused.
//
//===----------------------------------------------------------------------===//
#include "WgmmaHarness.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
Product product(const std::string &d, const std::string &a,
                const std::string &b, unsigned n) {
  Product p;
  p.d = d;
  p.a = a;
  p.b = b;
  p.n = n;
  p.suffix = a == "b1" ? ".and.popc" : "";
  return p;
}

void expectExact(const Product &p, const std::string &what) {
  ProductResult r = run(p);
  ASSERT_TRUE(r.report.ok()) << what << r.report.diagnostics.at(0).str();
  ASSERT_EQ(r.d, expected(p)) << what;
}

std::string nameOf(const Product &p) {
  auto layout = [](Layout l) {
    return std::to_string(l.span) + (l.isMNMajor ? "mn" : "k");
  };
  return p.d + "." + p.a + "." + p.b + " n" + std::to_string(p.n) + " A " +
         (p.aInRegisters ? "registers" : layout(p.layoutA)) + " B " +
         layout(p.layoutB) + "\n";
}

const std::vector<std::array<const char *, 3>> kTypes = {
    {"f32", "f16", "f16"},   {"f16", "f16", "f16"},   {"f32", "bf16", "bf16"},
    {"f32", "tf32", "tf32"}, {"f32", "e4m3", "e4m3"}, {"f32", "e4m3", "e5m2"},
    {"f32", "e5m2", "e4m3"}, {"f32", "e5m2", "e5m2"}, {"f16", "e4m3", "e4m3"},
    {"f16", "e4m3", "e5m2"}, {"f16", "e5m2", "e4m3"}, {"f16", "e5m2", "e5m2"},
    {"s32", "s8", "s8"},     {"s32", "s8", "u8"},     {"s32", "u8", "s8"},
    {"s32", "u8", "u8"},     {"s32", "b1", "b1"}};

TEST(Wgmma, everyTypeWithEveryLayoutOfBothMatrices) {
  unsigned seed = 1;
  for (const auto &t : kTypes) {
    Product p = product(t[0], t[1], t[2], 24);
    for (Layout b : layoutsOf(p)) {
      p.layoutB = b;
      for (Layout a : layoutsOf(p)) {
        p.layoutA = a;
        fillRandom(p, ++seed);
        expectExact(p, nameOf(p));
      }
      p.aInRegisters = true;
      expectExact(p, nameOf(p));
      p.aInRegisters = false;
    }
  }
}

TEST(Wgmma, everyShape) {
  for (const auto &t : kTypes)
    for (unsigned n = 8; n <= 256; n += 8) {
      Product p = product(t[0], t[1], t[2], n);
      bool isCoarse = p.isInt() && n > 32;
      if (isCoarse && n % 16)
        continue;
      p.layoutA.span = p.layoutB.span = 128;
      p.layoutB.isMNMajor = p.is16() && n % 64 == 0;
      fillRandom(p, n);
      expectExact(p, nameOf(p));
    }
}

TEST(Wgmma, noOrderChangesAnythingAndNoCheckerReports) {
  for (bool aInRegisters : {false, true})
    for (unsigned seed = 0; seed < 20; ++seed) {
      Product p = product("f32", "f16", "f16", 64);
      p.layoutA = p.layoutB = {128, bool(seed & 1)};
      p.aInRegisters = aInRegisters;
      fillRandom(p, seed);
      DeviceOptions options;
      options.order = {OrderPolicy::Random, seed};
      auto checkers = CheckerSet::parse("all");
      ASSERT_TRUE(bool(checkers));
      ProductResult r = run(p, options, &*checkers);
      for (const Diagnostic &d : r.report.diagnostics)
        ADD_FAILURE() << d.str();
      ASSERT_EQ(r.d, expected(p));
    }
}

TEST(Wgmma, oneHotMatricesFindEveryElement) {
  // A is 1 at (m, k) alone: row m of D is row k of B, the other rows are 0.
  for (bool aInRegisters : {false, true})
    for (unsigned m = 0; m < 64; m += 7)
      for (unsigned k = 0; k < 16; ++k) {
        Product p = product("f32", "f16", "f16", 16);
        p.aInRegisters = aInRegisters;
        p.layoutA = {64, true};
        p.layoutB = {32, false};
        p.accumulates = false;
        fillRandom(p, 1);
        p.valuesA.assign(64 * 16, 0);
        p.valuesA[m * 16 + k] = 1;
        for (unsigned i = 0; i < 256; ++i)
          p.valuesB[i] = int(i) + 1;
        ProductResult r = run(p);
        ASSERT_TRUE(r.report.ok()) << r.report.diagnostics.at(0).str();
        for (unsigned row = 0; row < 64; ++row)
          for (unsigned n = 0; n < 16; ++n)
            ASSERT_EQ(r.d[row * 16 + n], row == m ? p.valuesB[n * 16 + k] : 0);
      }
}

TEST(Wgmma, scalesNegateAndScaleDDropsTheAccumulator) {
  for (int a : {1, -1})
    for (int b : {1, -1})
      for (bool accumulates : {false, true}) {
        Product p = product("f32", "bf16", "bf16", 32);
        p.scaleA = a;
        p.scaleB = b;
        p.accumulates = accumulates;
        fillRandom(p, 5);
        expectExact(p, "scales");
      }
}

TEST(Wgmma, integersWrapOrSaturate) {
  for (const char *suffix : {"", ".satfinite"}) {
    Product p = product("s32", "u8", "s8", 16);
    p.suffix = suffix;
    fillRandom(p, 3, 127);
    for (int &v : p.valuesA)
      v = 255;
    for (size_t i = 0; i < p.valuesC.size(); ++i)
      p.valuesC[i] = i & 1 ? INT32_MAX - 5 : INT32_MIN + 5;
    expectExact(p, suffix);
  }
}

TEST(Wgmma, everySmallFloatOfEveryTypeIsReadExactly) {
  // D = A times the identity: each of the 256 values comes back.
  for (const char *type : {"e4m3", "e5m2"}) {
    Product p = product("f32", type, type, 32);
    p.accumulates = false;
    fillRandom(p, 1);
    for (unsigned n = 0; n < 32; ++n)
      for (unsigned k = 0; k < 32; ++k)
        p.valuesB[n * 32 + k] = n == k;
    ProductText text = prepare(p);
    // The image holds bytes, so the values are put there directly.
    MatrixImage at({}, 1024, 64);
    for (unsigned m = 0; m < 8; ++m)
      for (unsigned k = 0; k < 32; ++k)
        text.image[at.ofRow(m, k)] = uint8_t(m * 32 + k);
    auto module = Module::parse(text.text, "test.ptx");
    ASSERT_TRUE(bool(module));
    Device device;
    uint64_t bytes = text.image.size(), size = 128 * 16 * 4;
    uint64_t image = device.alloc(bytes, "image"), a = device.alloc(2048, "a"),
             c = device.alloc(size, "c"), d = device.alloc(size, "d");
    device.write(image, text.image.data(), bytes);
    device.write(a, text.registersA.data(), 2048);
    device.write(c, text.accumulators.data(), size);
    Report r = device.launch(*module, "k", {{1}, {128}, {1}, uint32_t(bytes)},
                             {Argument::of(image), Argument::of(bytes),
                              Argument::of(a), Argument::of(c), Argument::of(d),
                              Argument::of(text.descriptors[0]),
                              Argument::of(text.descriptors[1])});
    ASSERT_TRUE(r.ok()) << r.diagnostics.at(0).str();
    std::vector<float> out(128 * 16);
    device.read(d, out.data(), size);
    bool isE4 = std::string(type) == "e4m3";
    for (unsigned m = 0; m < 8; ++m) {
      // A NaN or an infinity makes its whole row a NaN.
      bool isFinite = true;
      for (unsigned k = 0; k < 32; ++k) {
        unsigned x = (m * 32 + k) & 127;
        isFinite &= isE4 ? x != 127 : x < 0x7C;
      }
      for (unsigned k = 0; k < 32; ++k) {
        unsigned x = m * 32 + k, fraction = isE4 ? 3 : 2;
        int bias = isE4 ? 7 : 15, e = int((x & 127) >> fraction);
        unsigned low = x & ((1u << fraction) - 1);
        float v = std::ldexp(float(e ? low + (1u << fraction) : low),
                             (e ? e : 1) - bias - int(fraction));
        float got = out[(m * 4 + k % 8 / 2) * 16 + k / 8 * 4 + k % 2];
        if (isFinite)
          ASSERT_EQ(got, x & 128 ? -v : v) << type << " " << x;
        else
          ASSERT_TRUE(std::isnan(got)) << type << " " << x;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

std::string refusal(std::string text) {
  auto module = Module::parse(text, "test.ptx");
  if (!module)
    return module.error().str();
  Device device;
  std::vector<Argument> none(7, Argument::of(uint64_t(0)));
  Report r = device.launch(*module, "k", {{1}, {128}, {1}, 1024}, none);
  return r.ok() ? "accepted" : r.diagnostics.at(0).str();
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(WgmmaRefusal, whatTheDecoderRefuses) {
  Product f = product("f32", "f16", "f16", 8),
          i = product("s32", "s8", "s8", 8);
  std::string half = productKernel(f), ints = productKernel(i);
  struct Case {
    const std::string &text;
    const char *from, *to, *message;
  };
  const Case cases[] = {
      {half, "m64n8k16", "m64n12k16",
       "the shape must be m64nNk16 with N = 8, 16, ... 256"},
      {half, "m64n8k16", "m64n264k16", "the shape must be m64nNk16"},
      {half, "m64n8k16", "m64n8k32", "the shape must be m64nNk16"},
      {half, "m64n8k16", "m128n8k16", "unsupported instruction"},
      {ints, "m64n8k32", "m64n40k32", "in steps of 16 from 32 on"},
      {half, "f32.f16.f16", "f32.f16.bf16", "no such combination of types"},
      {half, "f32.f16.f16", "f16.bf16.bf16", "no such combination of types"},
      {half, "f32.f16.f16", "s32.f16.f16", "no such combination of types"},
      {half, "f32.f16.f16", "f32.f16", "needs the types of D, A and B"},
      {half, ".f32.f16.f16", ".f32.f16.f16.satfinite",
       ".satfinite is for s8 and u8"},
      {ints, "s32.s8.s8", "s32.b1.b1", "the shape must be m64nNk256"},
      {half, "%p1, 1, 1, 0, 0", "%p1, 2, 1, 0, 0",
       "imm-scale-a of 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16' "
       "must be 1 or -1, found 2"},
      {half, "%p1, 1, 1, 0, 0", "%p1, 1, 1, 0, 3", "imm-trans-b"},
      {half, "%p1, 1, 1, 0, 0", "%p1, 1, 1, 0", "takes 8 operands, found 7"},
      {half, "%da, %db, %p1, 1, 1, 0, 0", "{%a0,%a1,%a2}, %db, %p1, 1, 1, 0",
       "A of 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16' has 4 "
       "registers, found 3"},
      {half, "{%c0, %c1, %c2, %c3}", "{%c0, %c1, %c2}", "has 4 registers"},
      {half, "mma_async.sync", "mma_async.sp.sync", "unsupported instruction"},
      {half, "wait_group.sync.aligned 0", "wait_group.sync.aligned -1",
       "needs a number of groups, found -1"},
  };
  for (const Case &c : cases) {
    std::string said = refusal(replaced(c.text, c.from, c.to));
    EXPECT_NE(said.find(c.message), said.npos) << c.to << "\n" << said;
    EXPECT_NE(said.find("test.ptx:"), said.npos) << said;
  }
}

TEST(WgmmaRefusal, fieldsOfDescriptors) {
  struct Case {
    uint64_t a, b;
    const char *message;
  };
  const Case cases[] = {
      {3ull << 49, 0, "a-desc: unsupported: base offset 3 (bits 49 to 51)"},
      {0, 1ull << 49, "b-desc: unsupported: base offset 1"},
      {1ull << 14, 0, "a-desc: reserved bits 14 and 15 hold 1 and must be 0"},
      {1ull << 31, 0, "a-desc: reserved bits 30 and 31 hold 2"},
      {1ull << 46, 0, "a-desc: reserved bits 46 to 48 hold 1"},
      {0, 5ull << 52, "b-desc: reserved bits 52 to 61 hold 5"},
      {0x3FFF, 0, "matrix A reaches the 16 bytes at byte 262128: the CTA has "},
      {0, 0x1ull << 62 | 90ull << 32 | 0x17F0,
       "matrix B reaches the 16 bytes at byte "},
  };
  Product p = product("f32", "f16", "f16", 8);
  fillRandom(p, 1);
  ProductText text = prepare(p);
  auto module = Module::parse(text.text, "test.ptx");
  ASSERT_TRUE(bool(module));
  for (const Case &c : cases) {
    Device device;
    uint64_t buffer = device.alloc(128 * 1024, "buffer");
    std::vector<uint8_t> zeros(128 * 1024);
    device.write(buffer, zeros.data(), zeros.size());
    Report r = device.launch(*module, "k", {{1}, {128}, {1}, 96 * 1024},
                             {Argument::of(buffer), Argument::of(uint64_t(0)),
                              Argument::of(buffer), Argument::of(buffer),
                              Argument::of(buffer), Argument::of(c.a),
                              Argument::of(c.b)});
    ASSERT_EQ(r.status, Status::Fault);
    std::string said = r.diagnostics.at(0).str();
    EXPECT_NE(said.find(c.message), said.npos) << said;
  }
}
} // namespace
