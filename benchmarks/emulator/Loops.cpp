//===- Loops.cpp - the time of single instructions ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One full warp runs a loop whose body is a list of instructions, some thousand
// times. What the loop itself costs is counted to its instructions: a body has
// so many that this is little.
//
//===----------------------------------------------------------------------===//
#include "Clock.h"
#include "Figures.h"

#include "fa/Emulator/Device.h"

#include <algorithm>
#include <cstdio>

using namespace bench;

namespace {
// Other work comes in bursts: the loops take turns.
constexpr unsigned kRuns = 8, kRounds = 5;

struct Loop {
  const char *figure;
  /// Instructions of the body, each with the number of times that it stands
  /// there; %k is replaced by a number that grows.
  std::vector<std::pair<unsigned, std::string>> body;
  Limit limit = {};
  const char *note = "";
};

/// f0..f15 are floats near one, r0..r15 integers, c0..c3 accumulators,
/// sa/ga addresses of 16 bytes for each lane, row by row.
std::string kernel(const Loop &loop, unsigned &count) {
  std::string body;
  count = 0;
  unsigned most = 0;
  for (const auto &[times, text] : loop.body)
    most = std::max(most, times);
  // Spread evenly, as a compiler would mix them.
  std::vector<std::pair<double, std::string>> order;
  for (const auto &[times, text] : loop.body)
    for (unsigned n = 0; n < times; ++n)
      order.push_back({(n + 0.5) / times, text});
  std::stable_sort(order.begin(), order.end(),
                   [](auto &x, auto &y) { return x.first < y.first; });
  for (auto &[place, text] : order) {
    std::string line = text;
    for (size_t at; (at = line.find("%k")) != std::string::npos;)
      line.replace(at, 2, std::to_string(count % 8));
    body += "  " + line + ";\n";
    ++count;
  }
  return R"(.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[16384];
.visible .entry k(.param .u64 buffer, .param .u32 rounds)
{
  .reg .f32 f<16>; .reg .b32 r<24>; .reg .b64 d<16>; .reg .pred p<8>;
  .reg .f32 c<8>; .reg .b32 n, sa; .reg .b64 ga; .reg .pred more;
  ld.param.u32 n, [rounds];
  ld.param.u64 ga, [buffer];
  cvta.to.global.u64 ga, ga;
  mov.u32 r0, %tid.x;
  mul.wide.u32 d0, r0, 16;
  add.s64 ga, ga, d0;
  mov.u32 sa, tile;
  shl.b32 r1, r0, 4;
  add.u32 sa, sa, r1;
  cvt.rn.f32.u32 f0, r0;
  fma.rn.f32 f0, f0, 0f3C000000, 0f3F000000;
)" +
         [] {
           std::string text;
           for (unsigned k = 1; k < 16; ++k)
             text += "  add.f32 f" + std::to_string(k) +
                     ", f0, 0f3D000000;\n  add.u32 r" + std::to_string(k) +
                     ", r0, " + std::to_string(k) + ";\n";
           for (unsigned k = 0; k < 16; ++k)
             text += "  cvt.u64.u32 d" + std::to_string(k) + ", r0;\n";
           for (unsigned k = 16; k < 24; ++k)
             text += "  mov.b32 r" + std::to_string(k) + ", 0x3C003C00;\n";
           for (unsigned k = 0; k < 8; ++k)
             text += "  mov.f32 c" + std::to_string(k) +
                     ", 0f00000000;\n  setp.lt.u32 p" + std::to_string(k) +
                     ", r0, 16;\n";
           for (unsigned k = 0; k < 16; ++k)
             text += "  st.shared.v4.b32 [sa+" + std::to_string(512 * k) +
                     "], {r16, r17, r18, r19};\n";
           return text;
         }() +
         "LOOP:\n" + body + R"(  sub.u32 n, n, 1;
  setp.ne.u32 more, n, 0;
  @more bra LOOP;
  ret;
}
)";
}

/// Seconds of one instruction of the body; 0 when it did not run.
double measure(const Loop &loop) {
  unsigned count = 0;
  auto module = ptxvm::Module::parse(kernel(loop, count), loop.figure);
  if (!module) {
    std::fprintf(stderr, "error: %s\n", module.error().str().c_str());
    return 0;
  }
  ptxvm::DeviceOptions options;
  options.threads = 1;
  ptxvm::Device device(options);
  std::vector<uint8_t> zeros(1 << 16);
  uint64_t buffer = device.alloc(zeros.size(), "buffer");
  device.write(buffer, zeros.data(), zeros.size());
  unsigned rounds = std::max(1u, 100000 / count);
  ptxvm::Report report;
  double least = leastSeconds(kRuns, [&] {
    report = device.launch(
        *module, "k", {{1}, {32}},
        {ptxvm::Argument::of(buffer), ptxvm::Argument::of(rounds)});
  });
  if (report.ok())
    return least / (double(rounds) * count);
  std::fprintf(stderr, "error: %s\n",
               report.diagnostics.empty()
                   ? loop.figure
                   : report.diagnostics[0].str().c_str());
  return 0;
}

const Loop kLoops[] = {
    // The shares of the loop that the compiler makes for D = 64.
    {"ALU mix",
     {{22, "max.f32 f%k, f%k, f9"},
      {21, "ex2.approx.ftz.f32 f%k, f%k"},
      {20, "add.rn.f32 f%k, f%k, f10"},
      {20, "fma.rn.f32 f%k, f%k, f11, f12"},
      {16, "mul.rn.f32 f%k, f%k, f13"},
      {10, "cvt.rn.f16x2.f32 r%k, f%k, f14"},
      {9, "add.s64 d%k, d%k, d9"},
      {7, "selp.f32 f%k, f%k, f15, p%k"},
      {4, "mov.b32 r%k, r9"},
      {1, "setp.gt.s32 p%k, r%k, r10"}},
     {8.0, {}},
     "as in the attention loop"},
    {"fma.rn.f32", {{128, "fma.rn.f32 f%k, f%k, f11, f12"}}},
    {"max.f32", {{128, "max.f32 f%k, f%k, f9"}}},
    {"ex2.approx.ftz.f32", {{128, "ex2.approx.ftz.f32 f%k, f%k"}}},
    {"cvt.rn.f16x2.f32", {{128, "cvt.rn.f16x2.f32 r%k, f%k, f14"}}},
    {"add.s64", {{128, "add.s64 d%k, d%k, d9"}}},
    {"setp.lt.f32", {{128, "setp.lt.f32 p%k, f%k, f9"}}},
    {"selp.f32", {{128, "selp.f32 f%k, f%k, f15, p%k"}}},
    {"shfl.sync.bfly.b32", {{128, "shfl.sync.bfly.b32 r%k, r9, 1, 31, -1"}}},
    {"mma.m16n8k16 f16",
     {{64,
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {c0, c1, c2, c3}, "
       "{r16, r17, r18, r19}, {r20, r21}, {c0, c1, c2, c3}"}},
     {150.0, {}},
     "f32 accumulators"},
    {"mma.m16n8k16 bf16",
     {{64, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {c0, c1, c2, "
           "c3}, {r16, r17, r18, r19}, {r20, r21}, {c0, c1, c2, c3}"}},
     {150.0, {}},
     "f32 accumulators"},
    {"ldmatrix.x4",
     {{64, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0, r1, r2, r3}, "
           "[sa+512]"}},
     {40.0, {}}},
    {"ldmatrix.x4.trans",
     {{64, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r0, r1, r2, r3}, "
           "[sa+512]"}},
     {40.0, {}}},
    {"ld.shared.b32", {{64, "ld.shared.b32 r%k, [sa+512]"}}},
    {"ld.shared.v4.b32", {{64, "ld.shared.v4.b32 {r0, r1, r2, r3}, [sa+512]"}}},
    {"st.shared.v4.b32",
     {{64, "st.shared.v4.b32 [sa+512], {r16, r17, r18, r19}"}}},
    {"ld.global.v4.b32", {{64, "ld.global.v4.b32 {r0, r1, r2, r3}, [ga+512]"}}},
    {"st.global.b32", {{64, "st.global.b32 [ga+512], r16"}}},
    {"cp.async.cg 16",
     {{16, "cp.async.cg.shared.global [sa+1024], [ga+512], 16"},
      {1, "cp.async.commit_group"},
      {1, "cp.async.wait_group 0"}},
     {},
     "with commit and wait for 16"},
};
} // namespace

bool bench::measureLoops(Figures &figures) {
  std::vector<double> least(std::size(kLoops), 1);
  for (unsigned round = 0; round < kRounds; ++round) {
    figures.unit = std::min(figures.unit, fusedMultiplyAddSeconds());
    for (size_t k = 0; k < std::size(kLoops); ++k) {
      double seconds = measure(kLoops[k]);
      if (!seconds)
        return false;
      least[k] = std::min(least[k], seconds);
    }
  }
  figures.add("time", "scalar FMA", figures.unit * 1e9, "ns", {},
              "the unit of the ratios");
  for (size_t k = 0; k < std::size(kLoops); ++k)
    figures.addTime(kLoops[k].figure, least[k], 1e9, "ns", kLoops[k].limit,
                    kLoops[k].note);
  return true;
}

bool bench::measureParsing(Figures &figures) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (unsigned k = 0; text.size() < 10'000'000; ++k) {
    text += ".visible .entry k" + std::to_string(k) + "(.param .u64 p)\n{\n";
    text += "  .reg .f32 %f<100>;\n  .reg .b64 %rd<100>;\n";
    for (unsigned n = 0; n < 400; ++n)
      text += "\tfma.rn.f32 \t%f" + std::to_string(n % 90 + 3) +
              ", %f2, %f1, 0f3F800000; // a remark\n";
    text += "  ret;\n}\n";
  }
  bool isRight = true;
  double least = leastSeconds(3, [&] {
    auto module = ptxvm::Module::parse(text, "large.ptx");
    isRight &= bool(module);
  });
  figures.add("time", "parsing, functions not asked for",
              double(text.size()) / least * 1e-6, "MB/s", {{}, 20.0},
              "a file of 10 MB");
  return isRight;
}
