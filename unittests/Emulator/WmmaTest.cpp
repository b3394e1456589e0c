//===- WmmaTest.cpp - wmma of every type, shape and layout ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrices in memory go through load, mma and store and are compared with a
// product over plain indices. Values are small whole numbers, so that every sum
// is exact; fragments are opaque, so nothing here looks into one.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <random>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
struct Case {
  const char *shape;
  unsigned m, n, k;
  const char *a, *c, *d; ///< types; B has that of A
  unsigned registersA, registersB;
  const char *op = ""; ///< "xor.popc" and the like
};

unsigned bitsOf(const std::string &type) {
  return type == "b1"                      ? 1
         : type == "s4" || type == "u4"    ? 4
         : type == "s8" || type == "u8"    ? 8
         : type == "f16" || type == "bf16" ? 16
         : type == "f64"                   ? 64
                                           : 32;
}

/// `value` as an element of a type.
uint64_t encode(const std::string &type, int value) {
  if (type == "f64")
    return std::bit_cast<uint64_t>(double(value));
  if (type == "f32" || type == "tf32")
    return bits(float(value));
  if (type == "bf16")
    return bits(float(value)) >> 16;
  if (type != "f16")
    return uint64_t(int64_t(value)) & (~0ull >> (64 - bitsOf(type)));
  // Whole numbers below 2^11 are exact.
  if (value == 0)
    return 0;
  uint32_t f = bits(float(value));
  return (f >> 16 & 0x8000) | (((f >> 23 & 0xFF) - 112) << 10) |
         (f >> 13 & 0x3FF);
}

/// A matrix in memory, its rows or columns `stride` elements apart.
struct Stored {
  std::string type;
  unsigned rows, columns, stride;
  bool isRow;
  std::vector<uint8_t> bytes;

  Stored(std::string type, unsigned rows, unsigned columns, bool isRow,
         unsigned gap)
      : type(std::move(type)), rows(rows), columns(columns),
        stride((isRow ? columns : rows) + gap), isRow(isRow),
        bytes(size_t(stride) * (isRow ? rows : columns) * bitsOf(this->type) /
              8) {}
  size_t element(unsigned r, unsigned c) const {
    return isRow ? size_t(r) * stride + c : size_t(c) * stride + r;
  }
  void put(unsigned r, unsigned c, int value) {
    size_t bit = element(r, c) * bitsOf(type);
    uint64_t x = encode(type, value);
    if (bitsOf(type) < 8)
      bytes[bit / 8] |= uint8_t(x << bit % 8);
    else
      std::memcpy(&bytes[bit / 8], &x, bitsOf(type) / 8);
  }
  uint64_t get(unsigned r, unsigned c) const {
    uint64_t x = 0;
    std::memcpy(&x, &bytes[element(r, c) * bitsOf(type) / 8], bitsOf(type) / 8);
    return x;
  }
};

std::string list(const char *name, unsigned count) {
  std::string text = "{";
  for (unsigned r = 0; r < count; ++r)
    text += (r ? ", %" : "%") + std::string(name) + std::to_string(r);
  return text + "}";
}

unsigned accumulators(const Case &c, const std::string &type) {
  unsigned each = type == "f16" ? 2 : 1;
  return c.m * c.n / 32 / each;
}

/// One product; layouts and space are the caller's.
std::string kernel(const Case &c, const Stored &a, const Stored &b,
                   const Stored &acc, const Stored &d) {
  auto layout = [](const Stored &s) { return s.isRow ? ".row" : ".col"; };
  std::string wide = std::string(c.a) == "f64" ? ".b64" : ".b32", op = c.op;
  bool isShort = std::string(c.a) == "f16";
  std::string types =
      isShort ? "." + d.type + "." + acc.type
              : "." + d.type + "." + c.a + "." + c.a + "." + acc.type;
  return R"(.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
  .reg )" +
         wide + R"( %a<8>, %b<8>, %c<8>, %d<8>;
  .reg .b64 %pa, %pb, %pc, %pd;
  ld.param.u64 %pa, [a];
  ld.param.u64 %pb, [b];
  ld.param.u64 %pc, [c];
  ld.param.u64 %pd, [d];
  wmma.load.a.sync.aligned)" +
         layout(a) + "." + c.shape + ".global." + c.a + " " +
         list("a", c.registersA) + ", [%pa], " + std::to_string(a.stride) +
         ";\n  wmma.load.b.sync.aligned" + layout(b) + "." + c.shape + "." +
         c.a + " " + list("b", c.registersB) + ", [%pb], " +
         std::to_string(b.stride) + ";\n  wmma.load.c.sync.aligned" +
         layout(acc) + "." + c.shape + ".global." + acc.type + " " +
         list("c", accumulators(c, acc.type)) + ", [%pc], " +
         std::to_string(acc.stride) + ";\n  wmma.mma" +
         (op.empty() ? "" : "." + op) + ".sync.aligned" + layout(a) +
         layout(b) + "." + c.shape + types + " " +
         list("d", accumulators(c, d.type)) + ", " + list("a", c.registersA) +
         ", " + list("b", c.registersB) + ", " +
         list("c", accumulators(c, acc.type)) +
         ";\n  wmma.store.d.sync.aligned" + layout(d) + "." + c.shape + "." +
         d.type + " [%pd], " + list("d", accumulators(c, d.type)) + ", " +
         std::to_string(d.stride) + ";\n  ret;\n}\n";
}

void multiply(const Case &c, unsigned layouts, unsigned gap,
              TensorModel model = TensorModel::Fma) {
  SCOPED_TRACE(std::string(c.shape) + "." + c.a + "." + c.d + " " +
               std::to_string(layouts));
  std::string type = c.a;
  bool isSmall = bitsOf(type) < 8;
  Stored a(c.a, c.m, c.k, isSmall || !(layouts & 1), isSmall ? 0 : gap);
  Stored b(c.a, c.k, c.n, !isSmall && (layouts & 2), isSmall ? 0 : gap);
  Stored acc(c.c, c.m, c.n, !(layouts & 4), gap);
  Stored d(c.d, c.m, c.n, !(layouts & 8), gap);
  std::mt19937 random(layouts + 1);
  bool isUnsigned = type[0] == 'u' || type == "b1";
  int least = isUnsigned ? 0 : -4, most = type == "b1" ? 1 : isUnsigned ? 7 : 3;
  std::uniform_int_distribution<int> pick(least, most);
  std::vector<int> av(c.m * c.k), bv(c.k * c.n), cv(c.m * c.n);
  auto fill = [&](std::vector<int> &values, Stored &to, unsigned columns) {
    for (unsigned n = 0; n < values.size(); ++n)
      to.put(n / columns, n % columns, values[n] = pick(random));
  };
  fill(av, a, c.k);
  fill(bv, b, c.n);
  fill(cv, acc, c.n);
  auto module = Module::parse(kernel(c, a, b, acc, d), "wmma.ptx");
  ASSERT_TRUE(module) << module.error().str();
  DeviceOptions options;
  options.tensorModel = model;
  Device device(options);
  std::vector<Argument> arguments;
  for (const Stored *s : {&a, &b, &acc, &d}) {
    uint64_t at = device.alloc(s->bytes.size(), "matrix", s != &d);
    if (s != &d)
      device.write(at, s->bytes.data(), s->bytes.size());
    arguments.push_back(Argument::of(at));
  }
  Report r = device.launch(*module, "k", {{1}, {32}, {0, 0, 0}, 0}, arguments);
  ASSERT_TRUE(r.ok()) << r.diagnostics.at(0).str();
  uint64_t address;
  std::memcpy(&address, arguments[3].bytes.data(), 8);
  device.read(address, d.bytes.data(), d.bytes.size());
  std::string op = c.op;
  for (unsigned m = 0; m < c.m; ++m)
    for (unsigned n = 0; n < c.n; ++n) {
      int want = cv[m * c.n + n];
      for (unsigned k = 0; k < c.k; ++k) {
        int x = av[m * c.k + k], y = bv[k * c.n + n];
        want += op == "and.popc" ? x & y : op == "xor.popc" ? x ^ y : x * y;
      }
      ASSERT_EQ(d.get(m, n), encode(c.d, want)) << m << "," << n;
    }
}

const Case kCases[] = {
    {"m16n16k16", 16, 16, 16, "f16", "f32", "f32", 8, 8},
    {"m32n8k16", 32, 8, 16, "f16", "f32", "f32", 8, 8},
    {"m8n32k16", 8, 32, 16, "f16", "f32", "f32", 8, 8},
    {"m16n16k16", 16, 16, 16, "f16", "f16", "f16", 8, 8},
    {"m32n8k16", 32, 8, 16, "f16", "f16", "f32", 8, 8},
    {"m8n32k16", 8, 32, 16, "f16", "f32", "f16", 8, 8},
    {"m16n16k16", 16, 16, 16, "bf16", "f32", "f32", 4, 4},
    {"m32n8k16", 32, 8, 16, "bf16", "f32", "f32", 8, 2},
    {"m8n32k16", 8, 32, 16, "bf16", "f32", "f32", 2, 8},
    {"m16n16k8", 16, 16, 8, "tf32", "f32", "f32", 4, 4},
    {"m8n8k4", 8, 8, 4, "f64", "f64", "f64", 1, 1},
    {"m16n16k16", 16, 16, 16, "s8", "s32", "s32", 2, 2},
    {"m32n8k16", 32, 8, 16, "u8", "s32", "s32", 4, 1},
    {"m8n32k16", 8, 32, 16, "s8", "s32", "s32", 1, 4},
    {"m8n8k32", 8, 8, 32, "s4", "s32", "s32", 1, 1},
    {"m8n8k32", 8, 8, 32, "u4", "s32", "s32", 1, 1},
    {"m8n8k128", 8, 8, 128, "b1", "s32", "s32", 1, 1, "xor.popc"},
    {"m8n8k128", 8, 8, 128, "b1", "s32", "s32", 1, 1, "and.popc"},
};

TEST(Wmma, everyTypeShapeAndLayout) {
  for (const Case &c : kCases)
    for (unsigned layouts = 0; layouts < 16; ++layouts)
      multiply(c, layouts, layouts % 3 * 8);
}

TEST(Wmma, truncatingModels) {
  // Small whole numbers are exact in every model.
  for (const Case &c : kCases)
    for (TensorModel model : {TensorModel::Ampere, TensorModel::Hopper})
      multiply(c, 0, 0, model);
  // 1 + 16 * 2^-24 is 1 + 2^-20; a chain of f32 rounds every term away.
  const std::string body = R"(
    mov.b32 %r0, 0x39803980;
    mov.b32 %r2, 0x3F800000;
    wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32
      {%out0, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, {%r0, %r0, %r0, %r0},
      {%r0, %r0, %r0, %r0}, {%r2, %r2, %r2, %r2, %r2, %r2, %r2, %r2};)";
  Snippet r = run(body, {}, {}, {}, "sm_80");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0], words([](uint32_t) { return 0x3F800000u; }));
  DeviceOptions options;
  options.tensorModel = TensorModel::Ampere;
  r = run(body, {}, options, {}, "sm_80");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0], words([](uint32_t) { return 0x3F800008u; }));
}

TEST(Wmma, integersWrapOrAreClamped) {
  const std::string body = R"(
    mov.b32 %r0, 0x01010101;
    mov.b32 %r2, 0x7FFFFFFF;
    wmma.mma.sync.aligned.row.col.m16n16k16SAT.s32.s8.s8.s32
      {%out0, %out1, %r4, %r5, %r6, %r7, %r8, %r9}, {%r0, %r0}, {%r0, %r0},
      {%r2, %r2, %r2, %r2, %r2, %r2, %r2, %r2};)";
  auto with = [&](const std::string &word) {
    std::string text = body;
    return text.replace(text.find("SAT"), 3, word);
  };
  Snippet r = run(with(""), {}, {}, {}, "sm_80");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0][5], 0x7FFFFFFFu + 16);
  r = run(with(".satfinite"), {}, {}, {}, "sm_80");
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0][5], 0x7FFFFFFFu);
}

TEST(Wmma, sharedMemoryAndNoStride) {
  // 16 rows of 16 halves without a gap: the matrix comes back as it was.
  Snippet r = run(R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 4, %r0;
    st.shared.u32 [%r1], %in0;
    st.shared.u32 [%r1+128], %in1;
    st.shared.u32 [%r1+256], %in2;
    st.shared.u32 [%r1+384], %in3;
    bar.warp.sync -1;
    wmma.load.c.sync.aligned.row.m16n16k16.shared.f16
      {%r2, %r3, %r4, %r5}, [%r0];
    wmma.store.d.sync.aligned.row.m16n16k16.shared::cta.f16
      [%r0+512], {%r2, %r3, %r4, %r5};
    bar.warp.sync -1;
    ld.shared.u32 %out0, [%r1+512];
    ld.shared.u32 %out1, [%r1+640];
    ld.shared.u32 %out2, [%r1+768];
    ld.shared.u32 %out3, [%r1+896];)",
                  {words([](uint32_t l) { return l * 3; }),
                   words([](uint32_t l) { return l * 5 + 1; }),
                   words([](uint32_t l) { return l * 7 + 2; }),
                   words([](uint32_t l) { return ~l; })});
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0], words([](uint32_t l) { return l * 3; }));
  EXPECT_EQ(r.out[1], words([](uint32_t l) { return l * 5 + 1; }));
  EXPECT_EQ(r.out[2], words([](uint32_t l) { return l * 7 + 2; }));
  EXPECT_EQ(r.out[3], words([](uint32_t l) { return ~l; }));
}

TEST(Wmma, theDestinationMayHoldAddressAndStride) {
  Snippet r = run(R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 4, %r0;
    st.shared.u32 [%r1], %in0;
    st.shared.u32 [%r1+128], %in1;
    st.shared.u32 [%r1+256], %in0;
    st.shared.u32 [%r1+384], %in1;
    bar.warp.sync -1;
    mov.u32 %r2, %r0;
    mov.u32 %r3, 16;
    wmma.load.c.sync.aligned.row.m16n16k16.shared.f16
      {%r2, %r3, %r4, %r5}, [%r2], %r3;
    wmma.store.d.sync.aligned.row.m16n16k16.shared::cta.f16
      [%r0+512], {%r2, %r3, %r4, %r5}, 16;
    bar.warp.sync -1;
    ld.shared.u32 %out0, [%r1+512];
    ld.shared.u32 %out1, [%r1+896];)",
                  {words([](uint32_t l) { return l * 3 + 7; }),
                   words([](uint32_t l) { return l * 5 + 1; })});
  ASSERT_RUNS(r);
  EXPECT_EQ(r.out[0], words([](uint32_t l) { return l * 3 + 7; }));
  EXPECT_EQ(r.out[1], words([](uint32_t l) { return l * 5 + 1; }));
}

TEST(Wmma, whatIsRefusedOrStopped) {
  const std::pair<const char *, const char *> kCasesOfFault[] = {
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0}, [%a0], 16;",
       "the fragment of 'wmma.load.a.sync.aligned.row.m16n16k16.f16' has 8 "
       "registers, found 1"},
      {"wmma.load.b.sync.aligned.row.m8n8k32.s4 {%r0}, [%a0], 32;",
       "unsupported instruction 'wmma.load.b.sync.aligned.row.m8n8k32.s4'"},
      {"wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r0}, [%a0], 16;",
       "unsupported instruction 'wmma.load.a.sync.aligned.row.m16n16k8.f16'"},
      {"setp.lt.u32 %p0, %tid, 8;\n@%p0 wmma.load.a.sync.aligned.row.m16n16k16"
       ".s8 {%r0, %r1}, [%a0], 16;",
       "is .aligned but not all 32 lanes of the warp execute it"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%a0], 64;",
       "bytes past the end of buffer 'in' (512 bytes)"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%a0+2], 16;",
       "is not aligned to 4"},
  };
  for (const auto &[body, message] : kCasesOfFault) {
    Snippet r = run(body, {}, {}, {}, "sm_80");
    ASSERT_FALSE(r.report.ok()) << body;
    EXPECT_NE(r.report.diagnostics[0].str().find(message), std::string::npos)
        << r.report.diagnostics[0].str();
  }
}
} // namespace
