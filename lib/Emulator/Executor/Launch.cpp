//===- Launch.cpp - a grid on host threads --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device::launch: checks the launch and builds what its CTAs share.
// GridRunner.cpp runs them.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/InstructionTable.h"
#include "../Decoder/ModuleImpl.h"
#include "DeviceState.h"
#include "GridRunner.h"
#include "Handlers.h"

#include "fa/Support/HostMemory.h"

#include <chrono>
#include <new>
#include <optional>
#include <stdexcept>

using namespace ptxvm;

/// Constants and addresses, one value for all lanes.
static std::vector<uint32_t>
makeImage(const Launch &launch,
          const std::map<std::string, uint64_t> &symbols) {
  const Kernel &k = launch.kernel;
  std::vector<uint32_t> image(k.totalWords - k.registerWords);
  for (const ReadOnly &r : k.readOnly) {
    uint64_t v = r.value;
    if (r.kind == ReadOnly::GlobalSymbol) {
      auto found = symbols.find(r.symbol);
      v += found == symbols.end() ? 0 : found->second;
    } else if (r.kind == ReadOnly::DynamicShared) {
      v += launch.dynamicSharedStart;
    }
    uint32_t *at = image.data() + (r.slot - k.registerWords);
    for (uint32_t l = 0; l < 32; ++l) {
      if (r.isWide)
        std::memcpy(at + 2 * l, &v, 8);
      else
        at[l] = uint32_t(v);
    }
  }
  return image;
}

/// 90 of "sm_90a".
static int targetNumber(const std::string &target) {
  return target.starts_with("sm_") ? std::atoi(target.c_str() + 3) : 0;
}

static std::string text(const Dim3 &d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" +
         std::to_string(d.z);
}

/// What is wrong with the cluster, or nothing; an empty one is filled in.
static std::optional<std::string> checkCluster(const Module &module,
                                               const KernelSignature &s,
                                               const DeviceOptions &options,
                                               LaunchShape &shape) {
  Dim3 &c = shape.cluster;
  const Dim3 &g = shape.grid;
  if (s.requiredCluster && c.count() > 1 && !(c == *s.requiredCluster))
    return "cluster " + text(c) + " does not fit .reqnctapercluster " +
           text(*s.requiredCluster);
  if (s.isExplicitCluster && !s.requiredCluster && !c.count())
    return "kernel '" + s.name +
           "' is .explicitcluster: the launch must give a cluster";
  if (s.requiredCluster)
    c = *s.requiredCluster;
  if (!c.count())
    c = {1, 1, 1};
  if (c.count() == 1)
    return std::nullopt;
  constexpr uint32_t kLargest = 16;
  uint32_t most = std::min(options.maxClusterSize, kLargest);
  if (c.x > most || c.y > most || c.z > most || c.count() > most)
    return "cluster " + text(c) + " has more than " + std::to_string(most) +
           " CTAs" +
           (most < kLargest ? "; --max-cluster=16 allows more, which not every "
                              "chip has"
                            : "");
  if (g.x % c.x || g.y % c.y || g.z % c.z)
    return "grid " + text(g) + " is not a multiple of cluster " + text(c);
  if (targetNumber(module.target()) < 90)
    return "clusters need sm_90 or newer; this file is for " + module.target();
  return std::nullopt;
}

/// What is wrong with a launch, or nothing.
static std::optional<std::string>
checkLaunch(const KernelSignature &s, const LaunchShape &shape,
            const std::vector<Argument> &args) {
  const Dim3 &b = shape.block, &g = shape.grid;
  if (!b.x || !b.y || !b.z || b.x > 1024 || b.y > 1024 || b.z > 64 ||
      b.count() > 1024)
    return "block " + text(b) +
           " is not allowed; at most 1024 threads, and "
           "64 in z";
  if (!g.x || !g.y || !g.z || g.x > 0x7FFFFFFF || g.y > 65535 || g.z > 65535)
    return "grid " + text(g) +
           " is not allowed; at most 2147483647 in x and "
           "65535 in y and z";
  if (s.requiredThreads && *s.requiredThreads != b)
    return "block " + text(b) + " does not fit .reqntid " +
           text(*s.requiredThreads);
  if (s.maximumThreads && s.maximumThreads->count() < b.count())
    return "block " + text(b) + " is larger than .maxntid " +
           text(*s.maximumThreads);
  if (args.size() != s.parameters.size())
    return "kernel '" + s.name + "' takes " +
           std::to_string(s.parameters.size()) + " arguments, found " +
           std::to_string(args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].bytes.size() != s.parameters[i].size)
      return "argument " + std::to_string(i) + " ('" + s.parameters[i].name +
             "') has " + std::to_string(s.parameters[i].size) +
             " bytes, found " + std::to_string(args[i].bytes.size());
  return std::nullopt;
}

static Report invalid(Diagnostic d) {
  Report r;
  r.status = Status::Invalid;
  r.diagnostics.push_back(std::move(d));
  return r;
}

namespace {
/// What a launch has of its device.
struct SingleLaunch {
  const Device &device;
  const DeviceOptions &opts;
  DeviceState &state;
  const std::vector<ExecutionObserver *> &observers;
  const std::function<void(std::string_view)> &printer;
  const ProgressFunction &progress;

  Report run(const Module &module, const std::string &kernelName,
             const LaunchShape &given, const std::vector<Argument> &args) const;
};
} // namespace

Report SingleLaunch::run(const Module &module, const std::string &kernelName,
                         const LaunchShape &given,
                         const std::vector<Argument> &args) const {
  auto start = std::chrono::steady_clock::now();
  auto kernel = module.impl().decode(kernelName);
  if (!kernel)
    return invalid(kernel.error());
  const Kernel &k = **kernel;
  Diagnostic wrong;
  wrong.origin = "launch";
  wrong.location = k.signature.location;
  LaunchShape shape = given;
  auto message = checkLaunch(k.signature, shape, args);
  if (!message)
    message = checkCluster(module, k.signature, opts, shape);
  if (message) {
    wrong.message = *message;
    return invalid(wrong);
  }
  auto symbols = state.load(module, k.globals);
  if (!symbols)
    return invalid(symbols.error());
  Launch launch{k, k.code, shape, opts, state.memory, state.heap, {}, {}};
  if (k.usesHeap)
    state.heap.open(state.memory);
  launch.isExplicitCluster =
      given.cluster.count() || k.signature.requiredCluster;
  uint64_t align = k.dynamicSharedAlignment;
  launch.dynamicSharedStart =
      uint32_t((k.staticShared + align - 1) / align * align);
  uint64_t shared =
      shape.dynamicSharedBytes
          ? uint64_t(launch.dynamicSharedStart) + shape.dynamicSharedBytes
          : k.staticShared;
  if (shared > opts.maxSharedBytes) {
    wrong.message = "the CTA needs " + std::to_string(shared) +
                    " bytes of shared memory; there are " +
                    std::to_string(opts.maxSharedBytes);
    return invalid(wrong);
  }
  launch.sharedBytes = uint32_t(shared);
  if (clusterBytes(launch) > farun::hostMemoryBudget())
    return invalid(memoryProblem(k));
  launch.printer = &printer;
  launch.progress = &progress;
  launch.parameters.assign(k.signature.parameterBytes, 0);
  for (size_t i = 0; i < args.size(); ++i)
    std::copy(args[i].bytes.begin(), args[i].bytes.end(),
              launch.parameters.begin() + k.signature.parameters[i].offset);
  launch.readOnlyImage = makeImage(launch, **symbols);
  const std::vector<Handler> &handlers = handlersByRow();
  uint16_t jump = rowOfHandler("bra");
  for (size_t pc = 0; pc < launch.code.size(); ++pc) {
    Instruction &i = launch.code[pc];
    bool isJump = k.info.instructions[pc].opcode.empty();
    i.handler = handlers[isJump ? jump : numericRow(i, opts)];
    if (!i.handler) {
      wrong.message = "no handler for '" + k.info.instructions[pc].opcode + "'";
      wrong.location = k.info.location(uint32_t(pc));
      return invalid(wrong);
    }
  }
  Report report;
  for (ExecutionObserver *o : observers)
    o->kernelBegin({k.info, shape, k.staticShared, device});
  GridRunner(launch, observers, report).run();
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  report.counters.seconds = time.count();
  for (ExecutionObserver *o : observers)
    o->kernelEnd(report);
  return report;
}

Report Device::launch(const Module &module, const std::string &kernelName,
                      const LaunchShape &given,
                      const std::vector<Argument> &args) {
  OrderPolicy order = opts.order;
  try {
    return opts.order.lastSeed > opts.order.seed
               ? launchInEachOrder(module, kernelName, given, args)
               : SingleLaunch{*this, opts, *state, observers, printer, progress}
                     .run(module, kernelName, given, args);
  } catch (const std::bad_alloc &) {
  } catch (const std::length_error &) {
  }
  opts.order = order;
  Diagnostic d;
  d.origin = "launch";
  d.message = "this machine has not enough memory for this launch";
  d.location.file = module.filename();
  return invalid(std::move(d));
}
