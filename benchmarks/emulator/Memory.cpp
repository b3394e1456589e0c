//===- Memory.cpp - the memory of large grids -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory has to grow with the CTAs that are under way, not with the grid. The
// peak of the process is what is measured, so this comes first.
//
//===----------------------------------------------------------------------===//
#include "Clock.h"
#include "Figures.h"

#include "fa/Emulator/Device.h"

#include <algorithm>
#include <cstdio>
#include <sys/resource.h>

using namespace bench;

namespace {
const char *const kKernel = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 out)
{
  .reg .b64 %o;
  .shared .align 16 .b8 smem[4096];
  ld.param.u64 %o, [out];
  red.global.add.u32 [%o], 1;
  ret;
}
)";

double peakMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}
} // namespace

bool bench::measureMemory(Figures &figures) {
  auto module = ptxvm::Module::parse(kKernel, "count.ptx");
  if (!module)
    return false;
  ptxvm::DeviceOptions options;
  options.threads = 1;
  ptxvm::Device device(options);
  uint32_t zero = 0;
  uint64_t word = device.alloc(4, "word");
  device.write(word, &zero, 4);
  auto run = [&](uint32_t ctas) {
    ptxvm::Report report = device.launch(*module, "count", {{ctas}, {1}},
                                         {ptxvm::Argument::of(word)});
    if (!report.ok())
      std::fprintf(stderr, "error: %s\n", report.diagnostics[0].str().c_str());
    return report.ok();
  };
  constexpr uint32_t kSmall = 1 << 10, kLarge = 1 << 20;
  if (!run(kSmall))
    return false;
  double before = peakMiB(), start = threadSeconds();
  if (!run(kLarge))
    return false;
  double seconds = (threadSeconds() - start) / kLarge;
  figures.add("memory", "2^20 CTAs over 2^10", peakMiB() - before, "MiB",
              {.atMost = 8.0}, "peak of the resident memory");
  figures.unit = std::min(figures.unit, fusedMultiplyAddSeconds());
  figures.addTime("a CTA of three instructions", seconds, 1e9, "ns", {}, "");
  return true;
}
