//===- WgmmaHarness.cpp - one warpgroup product as a test -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel copies an image into shared memory, loads what is in registers,
// multiplies once and stores D.
//
//===----------------------------------------------------------------------===//
#include "WgmmaHarness.h"

#include <random>

using namespace ptxvm;
using namespace ptxvm::test;

static constexpr uint32_t kShared = 96 * 1024;
static constexpr uint32_t kStartA = 1024, kStartB = 48 * 1024;

static std::string list(const std::string &stem, unsigned count) {
  std::string s = "{";
  for (unsigned i = 0; i < count; ++i)
    s += (i ? ", " : "") + stem + std::to_string(i);
  return s + "}";
}

std::string ptxvm::test::productKernel(const Product &p,
                                       const std::string &middle) {
  unsigned regs = p.registers();
  std::string body = R"(.version 8.4
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 sm[];
.visible .entry k(.param .u64 k_image, .param .u64 k_bytes, .param .u64 k_a,
                  .param .u64 k_c, .param .u64 k_d, .param .u64 k_descA,
                  .param .u64 k_descB)
{
  .reg .b32 %a<4>, %r<8>;
  .reg .b32 %c<128>;
  .reg .b64 %rd<12>, %da, %db;
  .reg .pred %p<4>;
  ld.param.u64 %rd0, [k_image];
  ld.param.u64 %rd1, [k_bytes];
  ld.param.u64 %rd2, [k_a];
  ld.param.u64 %rd3, [k_c];
  ld.param.u64 %rd4, [k_d];
  ld.param.u64 %da, [k_descA];
  ld.param.u64 %db, [k_descB];
  mov.u32 %r0, %tid.x;
  cvt.u32.u64 %r1, %rd1;
  shl.b32 %r2, %r0, 4;
COPY:
  setp.ge.u32 %p0, %r2, %r1;
  @%p0 bra COPIED;
  cvt.u64.u32 %rd5, %r2;
  add.u64 %rd5, %rd5, %rd0;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd5];
  mov.u32 %r3, sm;
  add.u32 %r3, %r3, %r2;
  st.shared.v4.b32 [%r3], {%a0, %a1, %a2, %a3};
  add.u32 %r2, %r2, 2048;
  bra COPY;
COPIED:
  fence.proxy.async;
  bar.sync 0;
  mad.wide.u32 %rd6, %r0, 16, %rd2;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd6];
)";
  body += "  mad.wide.u32 %rd7, %r0, " + std::to_string(4 * regs) +
          ", %rd3;\n  mad.wide.u32 %rd8, %r0, " + std::to_string(4 * regs) +
          ", %rd4;\n";
  for (unsigned i = 0; i < regs; ++i)
    body += "  ld.global.b32 %c" + std::to_string(i) + ", [%rd7+" +
            std::to_string(4 * i) + "];\n";
  body += "  setp.ne.u32 %p1, " + std::to_string(p.accumulates) + ", 0;\n";
  body += "  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n" +
          std::to_string(p.n) + "k" + std::to_string(p.k()) + "." + p.d + "." +
          p.a + "." + p.b + p.suffix + " " + list("%c", regs) + ", " +
          (p.aInRegisters ? list("%a", 4) : "%da") + ", %db, %p1";
  if (!p.isInt())
    body += ", " + std::to_string(p.scaleA) + ", " + std::to_string(p.scaleB);
  if (p.is16() && !p.aInRegisters)
    body += p.layoutA.isMNMajor ? ", 1" : ", 0";
  if (p.is16())
    body += p.layoutB.isMNMajor ? ", 1" : ", 0";
  body += ";\n";
  body += middle.empty() ? "  wgmma.commit_group.sync.aligned;\n"
                           "  wgmma.wait_group.sync.aligned 0;\n"
                         : middle;
  for (unsigned i = 0; i < regs; ++i)
    body += "  st.global.b32 [%rd8+" + std::to_string(4 * i) + "], %c" +
            std::to_string(i) + ";\n";
  return body + "  ret;\n}\n";
}

/// Writes one matrix into the image, element by element.
static void lay(const Product &p, const std::string &type,
                const std::vector<int> &values, unsigned rows, Layout layout,
                const MatrixImage &at, std::vector<uint8_t> &image) {
  unsigned k = p.k(), bits = p.elementBits();
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned e = 0; e < k; ++e) {
      uint32_t v = encode(type, values[r * k + e]);
      if (layout.isMNMajor) {
        uint32_t to = at.ofColumn(r, e);
        image[to] = uint8_t(v);
        image[to + 1] = uint8_t(v >> 8);
      } else if (bits == 1) {
        uint8_t &byte = image[at.ofRow(r, e / 8)];
        byte = uint8_t((byte & ~(1u << e % 8)) | v << e % 8);
      } else {
        for (unsigned b = 0; b < bits / 8; ++b)
          image[at.ofRow(r, e * bits / 8 + b)] = uint8_t(v >> 8 * b);
      }
    }
}

ProductText ptxvm::test::prepare(const Product &p) {
  ProductText result;
  result.text = productKernel(p);
  // What belongs to no matrix is a NaN of every type.
  result.image.assign(kShared, 0xFF);
  MatrixImage a(p.layoutA, kStartA, 64), b(p.layoutB, kStartB, p.n);
  lay(p, p.a, p.valuesA, 64, p.layoutA, a, result.image);
  lay(p, p.b, p.valuesB, p.n, p.layoutB, b, result.image);
  result.descriptors = {a.descriptor(), b.descriptor()};
  unsigned bits = p.elementBits(), each = 32 / bits, k = p.k();
  result.registersA.assign(128 * 4, 0);
  result.accumulators.assign(128 * p.registers(), 0);
  for (unsigned thread = 0; thread < 128; ++thread) {
    unsigned warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned j = 0; j < each; ++j) {
        unsigned row = 16 * warp + g + 8 * (r & 1);
        unsigned e = each * (t + 4 * (r >> 1)) + j;
        result.registersA[4 * thread + r] |= encode(p.a, p.valuesA[row * k + e])
                                             << bits * j;
      }
    for (unsigned i = 0; i < p.n / 2; ++i) {
      unsigned row = 16 * warp + g + 8 * (i >> 1 & 1);
      unsigned column = 8 * (i >> 2) + 2 * t + (i & 1);
      uint32_t v = encode(p.d, p.valuesC[row * p.n + column]);
      unsigned at = thread * p.registers() + (p.isHalf() ? i / 2 : i);
      result.accumulators[at] |= p.isHalf() ? v << 16 * (i & 1) : v;
    }
  }
  return result;
}

ProductResult ptxvm::test::run(const Product &p, const DeviceOptions &options,
                               const CheckerSet *checkers) {
  ProductText text = prepare(p);
  ProductResult result;
  auto module = Module::parse(text.text, "test.ptx");
  if (!module) {
    result.report.status = Status::Invalid;
    result.report.diagnostics.push_back(module.error());
    return result;
  }
  Device device(options);
  if (checkers)
    checkers->attach(device);
  auto buffer = [&](const void *from, uint64_t bytes, const char *name) {
    uint64_t at = device.alloc(bytes, name, from != nullptr);
    if (from)
      device.write(at, from, bytes);
    return at;
  };
  uint64_t bytes = text.accumulators.size() * 4;
  uint64_t image = buffer(text.image.data(), kShared, "image"),
           a = buffer(text.registersA.data(), 2048, "a"),
           c = buffer(text.accumulators.data(), bytes, "c"),
           d = buffer(nullptr, bytes, "d");
  result.report = device.launch(
      *module, "k", {{1}, {128}, {1}, kShared},
      {Argument::of(image), Argument::of(uint64_t(kShared)), Argument::of(a),
       Argument::of(c), Argument::of(d), Argument::of(text.descriptors[0]),
       Argument::of(text.descriptors[1])});
  std::vector<uint32_t> out(text.accumulators.size());
  device.read(d, out.data(), bytes);
  result.d.assign(64 * p.n, 0);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < p.n / 2; ++i) {
      unsigned row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i >> 1 & 1);
      unsigned column = 8 * (i >> 2) + 2 * (thread % 4) + (i & 1);
      uint32_t v = out[thread * p.registers() + (p.isHalf() ? i / 2 : i)];
      if (p.isHalf())
        v = v >> 16 * (i & 1) & 0xFFFF;
      result.d[row * p.n + column] = decode(p.d, v);
    }
  return result;
}

void ptxvm::test::fillRandom(Product &p, unsigned seed, int range) {
  std::mt19937 random(seed);
  auto fill = [&](const std::string &type, std::vector<int> &values,
                  size_t count) {
    int least = type == "u8" || type == "b1" ? 0 : -range;
    int most = type == "b1" ? 1 : range;
    std::uniform_int_distribution<int> pick(least, most);
    values.resize(count);
    for (int &v : values)
      v = pick(random);
  };
  fill(p.a, p.valuesA, 64 * p.k());
  fill(p.b, p.valuesB, p.n * p.k());
  fill(p.d, p.valuesC, 64 * p.n);
}

std::vector<int> ptxvm::test::expected(const Product &p) {
  unsigned k = p.k();
  std::vector<int> d(64 * p.n);
  for (unsigned m = 0; m < 64; ++m)
    for (unsigned n = 0; n < p.n; ++n) {
      int64_t sum = p.accumulates ? p.valuesC[m * p.n + n] : 0;
      for (unsigned e = 0; e < k; ++e)
        sum +=
            p.scaleA * p.scaleB * p.valuesA[m * k + e] * p.valuesB[n * k + e];
      if (p.suffix == ".satfinite")
        sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      d[m * p.n + n] = int(uint32_t(sum));
    }
  return d;
}

std::vector<Layout> ptxvm::test::layoutsOf(const Product &p) {
  std::vector<Layout> layouts;
  for (unsigned span : {0u, 32u, 64u, 128u})
    for (bool isMNMajor : {false, true})
      if (!isMNMajor || p.is16())
        layouts.push_back({span, isMNMajor});
  return layouts;
}
