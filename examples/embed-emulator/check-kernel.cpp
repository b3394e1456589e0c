//===- check-kernel.cpp - a PTX kernel against plain C++ ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that a project needs to test its kernels on a CPU: parse, run under every
// checker and in several orders, compare. check-kernel FILE.ptx
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Device.h"

#include <cstdio>
#include <vector>

static constexpr unsigned kBlocks = 8, kThreads = 256;

/// Runs the kernel once; false after a message.
static bool runOnce(const ptxvm::Module &module, const char *order) {
  ptxvm::DeviceOptions options;
  options.order = *ptxvm::OrderPolicy::parse(order);
  ptxvm::Device device(options);
  auto checkers = ptxvm::CheckerSet::parse("all");
  checkers->attach(device);

  std::vector<float> in(kBlocks * kThreads), out(in.size());
  for (size_t n = 0; n < in.size(); ++n)
    in[n] = float(n);
  size_t bytes = in.size() * sizeof(float);
  uint64_t from = device.alloc(bytes, "in", /*readOnly=*/true);
  uint64_t to = device.alloc(bytes, "out");
  device.write(from, in.data(), bytes);

  ptxvm::Report report =
      device.launch(module, "reverse_blocks", {{kBlocks}, {kThreads}},
                    {ptxvm::Argument::of(from), ptxvm::Argument::of(to)});
  for (const ptxvm::Diagnostic &d : report.diagnostics)
    std::printf("%s\n", d.str().c_str());
  if (!report.ok())
    return false;

  device.read(to, out.data(), bytes);
  for (size_t n = 0; n < in.size(); ++n) {
    size_t block = n / kThreads * kThreads, lane = n % kThreads;
    if (out[n] == in[block + kThreads - 1 - lane])
      continue;
    std::printf("out[%zu] is %g\n", n, double(out[n]));
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::printf("usage: check-kernel FILE.ptx\n");
    return 2;
  }
  auto module = ptxvm::Module::parseFile(argv[1]);
  if (!module) {
    std::printf("%s\n", module.error().str().c_str());
    return 2;
  }
  for (const char *order : {"round-robin", "reverse", "random:1", "random:2"})
    if (!runOnce(*module, order))
      return 1;
  std::printf("reverse_blocks is right\n");
  return 0;
}
