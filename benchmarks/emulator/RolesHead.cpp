//===- RolesHead.cpp - one head by a producer and two consumers -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What nvcc makes of test/Emulator/CUDA/attention.cu for sm_90a: TMA copies,
// mbarriers, wgmma, named barriers.
//
//===----------------------------------------------------------------------===//
#include "Clock.h"
#include "Figures.h"

#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Device.h"
#include "fa/Emulator/TensorMap.h"

#include <cstdio>

using namespace bench;

namespace {
constexpr uint32_t kLength = 1024, kHeadDim = 64, kBlock = 128, kRuns = 10;
constexpr uint32_t kSharedBytes = kBlock * kHeadDim * 2 * 5;

class Launcher {
public:
  explicit Launcher(const ptxvm::Module &module)
      : module(module), device(options()) {
    std::vector<uint16_t> numbers(kLength * kHeadDim, 0x3800);
    for (uint32_t n = 0; n < 4; ++n) {
      uint64_t bytes = 2 * numbers.size();
      buffers[n] = device.alloc(bytes, "buffer" + std::to_string(n), n < 3);
      if (n < 3)
        device.write(buffers[n], numbers.data(), bytes);
    }
  }

  /// False, with a message, when the kernel does not end well.
  bool run() {
    std::vector<ptxvm::Argument> arguments;
    for (uint32_t n = 0; n < 4; ++n)
      arguments.push_back(
          ptxvm::Argument::of(map(buffers[n], n % 3 ? kBlock : kBlock / 2)));
    arguments.push_back(ptxvm::Argument::of(kLength / kBlock));
    arguments.push_back(ptxvm::Argument::of(0.125f));
    auto report = device.launch(
        module, "attention",
        {{kLength / kBlock}, {384}, {0, 0, 0}, kSharedBytes}, arguments);
    if (!report.ok() && !report.diagnostics.empty())
      std::fprintf(stderr, "error: %s\n", report.diagnostics[0].str().c_str());
    return report.ok();
  }
  ptxvm::Device &dev() { return device; }

private:
  static ptxvm::DeviceOptions options() {
    ptxvm::DeviceOptions o;
    o.threads = 1;
    return o;
  }
  static ptxvm::TensorMap map(uint64_t address, uint32_t rows) {
    ptxvm::TensorMapShape s;
    s.type = ptxvm::TensorType::F16;
    s.rank = 2;
    s.address = address;
    s.dims = {kHeadDim, kLength};
    s.strides = {2 * kHeadDim};
    s.box = {kHeadDim, rows};
    s.swizzle = ptxvm::TensorSwizzle::Bytes128;
    return *ptxvm::encodeTiled(s);
  }

  const ptxvm::Module &module;
  ptxvm::Device device;
  uint64_t buffers[4];
};
} // namespace

bool bench::measureRolesHead(Figures &figures) {
  auto module =
      ptxvm::Module::parseFile(FA_COMPILED_PTX_DIR "/attention.sm_90a.ptx");
  auto checkers = ptxvm::CheckerSet::parse("all");
  if (!module || !checkers) {
    std::fprintf(stderr, "error: %s\n", module.error().str().c_str());
    return false;
  }
  Launcher plain(*module), checked(*module);
  checkers->attach(checked.dev());
  bool isRight = true;
  double alone = leastSeconds(kRuns, [&] { isRight &= plain.run(); });
  double watched = leastSeconds(kRuns, [&] { isRight &= checked.run(); });
  figures.addTime("head, sm_90a", alone, 1e3, "ms", {25.0, {}},
                  "the same extents: TMA, wgmma, roles; checks off");
  figures.add("time", "head, sm_90a, all checkers", watched / alone,
              "times checks off", {4.0, {}}, "");
  return isRight;
}
