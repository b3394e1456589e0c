//===- MmaHarness.h - one mma.sync from matrices ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts the bits of A, B and C where the PTX ISA (9.1, section 9.7.14.5) wants
// them, asking for each element which lane, register and bits hold it, which is
// the other way round from the executor; runs one instruction; collects D.
//
//===----------------------------------------------------------------------===//
#ifndef FA_UNITTESTS_EMULATOR_MMAHARNESS_H
#define FA_UNITTESTS_EMULATOR_MMAHARNESS_H

#include "Harness.h"

#include <cstring>

namespace ptxvm::test {

/// A form of mma.sync: opcode = head + types + tail.
struct MmaForm {
  std::string shape, middle, dc, a, b, tail;
  unsigned rows, depth, bits; ///< M, K, bits of an element
  unsigned accumulatorBits;   ///< 16, 32 or 64

  std::string opcode() const {
    return "mma.sync.aligned." + shape + ".row.col." + middle + dc + "." + a +
           "." + b + "." + dc + tail;
  }
  unsigned container() const { return bits == 64 ? 64 : 32; }
  unsigned perRegister() const { return container() / bits; }
  unsigned registersA() const { return rows * depth * bits / container() / 32; }
  unsigned registersB() const { return 8 * depth * bits / container() / 32; }
  unsigned registersC() const {
    return rows * 8 / 32 / (accumulatorBits == 16 ? 2 : 1);
  }
};

using Matrix = std::vector<std::vector<uint64_t>>; ///< [row][column], bits

struct MmaResult {
  Report report;
  Matrix d;
};

namespace detail {
/// Registers by [register][lane].
using Fragment = std::vector<std::array<uint64_t, 32>>;

inline Fragment fragmentOf(const MmaForm &f, const Matrix &m, bool isA) {
  unsigned per = f.perRegister(), count = isA ? f.registersA() : f.registersB();
  Fragment out(count, std::array<uint64_t, 32>{});
  unsigned outer = isA ? f.rows : 8;
  for (unsigned i = 0; i < outer; ++i)
    for (unsigned k = 0; k < f.depth; ++k) {
      uint64_t bits = isA ? m[i][k] : m[k][i];
      unsigned lane = 4 * (i % 8) + k / per % 4, chunk = k / per / 4;
      unsigned r = isA && f.rows == 16 ? i / 8 + 2 * chunk : chunk;
      out[r][lane] |= bits << f.bits * (k % per);
    }
  return out;
}

/// Register, lane and shift of an element of C or D.
inline std::array<unsigned, 3> placeOfC(const MmaForm &f, unsigned row,
                                        unsigned column) {
  unsigned lane = 4 * (row % 8) + column / 2;
  if (f.accumulatorBits == 16)
    return {row / 8, lane, 16 * (column % 2)};
  return {2 * (row / 8) + column % 2, lane, 0};
}

inline std::string kernel(const MmaForm &f, const char *target) {
  bool wide = f.container() == 64;
  std::string width = wide ? "8" : "4", type = wide ? "b64" : "b32", loads,
              lists[4], stores;
  const unsigned counts[] = {f.registersC(), f.registersA(), f.registersB(),
                             f.registersC()};
  unsigned at = 0, offset = 0;
  for (unsigned part = 0; part < 4; ++part)
    for (unsigned r = 0; r < counts[part]; ++r, ++at) {
      std::string name = "%x" + std::to_string(at);
      lists[part] += (r ? ", " : "") + name;
      unsigned bytes = 32 * (wide ? 8 : 4);
      if (part)
        loads += "  ld.global." + type + " " + name + ", [%a0+" +
                 std::to_string(offset++ * bytes) + "];\n";
      else
        stores += "  st.global." + type + " [%a1+" + std::to_string(r * bytes) +
                  "], " + name + ";\n";
    }
  return ".version 8.8\n.target " + std::string(target) +
         "\n.address_size 64\n.visible .entry k(.param .u64 k_in, "
         ".param .u64 k_out)\n{\n  .reg .b64 %a<4>;\n  .reg .b32 %t;\n  .reg "
         "." +
         type +
         " %x<40>;\n  ld.param.u64 %a2, [k_in];\n"
         "  ld.param.u64 %a3, [k_out];\n  mov.u32 %t, %tid.x;\n"
         "  mad.wide.u32 %a0, %t, " +
         width +
         ", %a2;\n"
         "  mad.wide.u32 %a1, %t, " +
         width + ", %a3;\n" + loads + "  " + f.opcode() + "\n    {" + lists[0] +
         "}, {" + lists[1] + "}, {" + lists[2] + "}, {" + lists[3] + "};\n" +
         stores + "  ret;\n}\n";
}
} // namespace detail

inline MmaResult runMma(const MmaForm &f, const Matrix &a, const Matrix &b,
                        const Matrix &c, DeviceOptions options = {},
                        const char *target = "sm_90") {
  using namespace detail;
  MmaResult result;
  auto module = Module::parse(kernel(f, target), "mma.ptx");
  if (!module) {
    result.report.status = Status::Invalid;
    result.report.diagnostics.push_back(module.error());
    return result;
  }
  Fragment all = fragmentOf(f, a, true), more = fragmentOf(f, b, false);
  all.insert(all.end(), more.begin(), more.end());
  size_t firstC = all.size();
  all.resize(firstC + f.registersC(), std::array<uint64_t, 32>{});
  for (unsigned row = 0; row < f.rows; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      auto [r, lane, shift] = placeOfC(f, row, column);
      all[firstC + r][lane] |= c[row][column] << shift;
    }
  size_t bytes = f.container() / 8;
  std::vector<uint8_t> in(all.size() * 32 * bytes),
      out(f.registersC() * 32 * bytes);
  for (size_t r = 0; r < all.size(); ++r)
    for (size_t l = 0; l < 32; ++l)
      std::memcpy(&in[(r * 32 + l) * bytes], &all[r][l], bytes);
  options.threads = 1;
  Device device(options);
  uint64_t from = device.alloc(in.size(), "in"),
           to = device.alloc(out.size(), "out");
  device.write(from, in.data(), in.size());
  result.report = device.launch(*module, "k", {{1}, {32}, {1}, 0},
                                {Argument::of(from), Argument::of(to)});
  device.read(to, out.data(), out.size());
  result.d.assign(f.rows, std::vector<uint64_t>(8));
  for (unsigned row = 0; row < f.rows; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      auto [r, lane, shift] = placeOfC(f, row, column);
      uint64_t word = 0;
      std::memcpy(&word, &out[(r * 32 + lane) * bytes], bytes);
      word >>= shift;
      result.d[row][column] = f.accumulatorBits == 64
                                  ? word
                                  : word & ((1ull << f.accumulatorBits) - 1);
    }
  return result;
}

} // namespace ptxvm::test

#endif // FA_UNITTESTS_EMULATOR_MMAHARNESS_H
