//===- Launch.cpp - a grid on host threads --------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device::launch: checks the launch, builds what its CTAs share, and runs CTAs
// on host threads. Each thread keeps one CTA's memory and uses it again, so
// memory grows with the threads and not with the grid.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/InstructionTable.h"
#include "../Decoder/ModuleImpl.h"
#include "DeviceState.h"
#include "Machine.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

using namespace ptxvm;

Diagnostic CTA::makeDiagnostic(Severity severity, std::string origin,
                               std::string message, uint32_t pc, int warp,
                               int lane) const {
  Diagnostic d;
  d.severity = severity;
  d.origin = std::move(origin);
  d.message = std::move(message);
  d.location = launch.kernel.info.location(pc);
  d.source = launch.kernel.info.source(pc);
  d.points.push_back({launch.kernel.info.kernel, id, warp, lane});
  return d;
}

Flow CTA::fault(const Warp &w, std::string origin, std::string message,
                int lane) {
  status = Status::Fault;
  diagnostics.push_back(makeDiagnostic(Severity::Error, std::move(origin),
                                       std::move(message), w.pc, int(w.index),
                                       lane));
  return Flow::Stop;
}

namespace {
/// What observers report goes to the CTA's list.
class Sink : public DiagnosticSink {
public:
  Sink(CTA &cta) : cta(cta) {}
  void report(Diagnostic d) override {
    bool isError = d.severity == Severity::Error;
    unsigned limit = cta.launch.options.maxDiagnostics;
    if (cta.diagnostics.size() < limit)
      cta.diagnostics.push_back(std::move(d));
    if (isError && ++cta.errors >= limit)
      cta.launch.stop = true;
  }
  void report(Severity severity, std::string origin, std::string message,
              uint32_t pc, int warp, int lane) override {
    report(cta.makeDiagnostic(severity, std::move(origin), std::move(message),
                              pc, warp, lane));
  }

private:
  CTA &cta;
};

/// The results of a CTA until its turn in the order comes.
struct Finished {
  std::unique_ptr<CTA> keep; ///< only its id, status and diagnostics are used
  std::vector<std::pair<ExecutionObserver *, std::unique_ptr<CTAObserver>>>
      observers;
  std::unique_ptr<Sink> sink;
};

class GridRunner {
public:
  GridRunner(Launch &launch, const std::vector<ExecutionObserver *> &observers,
             Report &report)
      : launch(launch), observers(observers), report(report),
        total(launch.shape.grid.count()) {}

  void run() {
    unsigned threads = launch.options.threads;
    if (!threads)
      threads = std::max(1u, std::thread::hardware_concurrency());
    threads = unsigned(std::min<uint64_t>(threads, total));
    std::vector<std::thread> pool;
    for (unsigned t = 1; t < threads; ++t)
      pool.emplace_back([this] { work(); });
    work();
    for (std::thread &t : pool)
      t.join();
    finishAll();
  }

private:
  void work() {
    std::unique_ptr<CTA> cta;
    for (uint64_t n; !launch.stop && (n = next++) < total;) {
      if (!cta)
        cta = std::make_unique<CTA>(launch);
      runOne(cta, launch.options.order.kind == OrderPolicy::Reverse
                      ? total - 1 - n
                      : n);
    }
  }

  CTAEvent eventOf(const CTA &cta, DiagnosticSink &sink) {
    return {launch.kernel.info,
            launch.shape,
            cta.id,
            cta.linear,
            0,
            cta.linear,
            1,
            uint32_t(cta.warps.size()),
            cta.threads,
            launch.sharedBytes,
            sink};
  }

  void runOne(std::unique_ptr<CTA> &cta, uint64_t linear) {
    reset(*cta, linear);
    Finished f;
    f.sink = std::make_unique<Sink>(*cta);
    if (!observers.empty()) {
      std::lock_guard<std::mutex> guard(lock);
      for (ExecutionObserver *o : observers)
        attach(*cta, f, *o);
    }
    runCTA(*cta, launch.options.order.seed * 0x9E3779B97F4A7C15ull + linear);
    ++done;
    if (cta->status != Status::Ok)
      launch.stop = true;
    if (observers.empty() && cta->diagnostics.empty())
      return;
    f.keep = std::move(cta);
    // The big parts are not needed any more.
    f.keep->registerFile = {};
    f.keep->local = {};
    f.keep->shared = {};
    std::lock_guard<std::mutex> guard(lock);
    waiting[linear] = std::move(f);
    // In order: what all earlier CTAs have left behind is handed on.
    bool isForward = launch.options.order.kind != OrderPolicy::Reverse;
    while (isForward && !waiting.empty() && waiting.begin()->first == handed) {
      finish(waiting.begin()->second);
      waiting.erase(waiting.begin());
      ++handed;
    }
  }

  void attach(CTA &cta, Finished &f, ExecutionObserver &o) {
    std::unique_ptr<CTAObserver> made = o.ctaBegin(eventOf(cta, *f.sink));
    if (!made)
      return;
    uint32_t wants = o.interests();
    if (wants & kInstructions)
      cta.onInstruction.push_back(made.get());
    if (wants & kMemory)
      cta.onMemory.push_back(made.get());
    if (wants & kAsyncCopies)
      cta.onCopy.push_back(made.get());
    if (wants & kBarriers)
      cta.onBarrier.push_back(made.get());
    if (wants & kWgmma)
      cta.onWgmma.push_back(made.get());
    if (wants & kUndefined)
      cta.onUndefined.push_back(made.get());
    f.observers.push_back({&o, std::move(made)});
  }

  void finish(Finished &f) {
    CTA &cta = *f.keep;
    bool completed = cta.status == Status::Ok &&
                     std::all_of(cta.warps.begin(), cta.warps.end(),
                                 [](const Warp &w) { return w.isDone(); });
    for (auto &[observer, own] : f.observers)
      observer->ctaEnd(eventOf(cta, *f.sink), *own, completed);
    if (report.status == Status::Ok)
      report.status = cta.status;
    bool hasError = std::any_of(
        cta.diagnostics.begin(), cta.diagnostics.end(),
        [](const Diagnostic &d) { return d.severity == Severity::Error; });
    if (report.status == Status::Ok && hasError)
      report.status = Status::Fault;
    for (Diagnostic &d : cta.diagnostics)
      if (report.diagnostics.size() < launch.options.maxDiagnostics)
        report.diagnostics.push_back(std::move(d));
  }

  void finishAll() {
    for (auto &[linear, f] : waiting)
      finish(f);
    report.counters.ctas = done;
    report.counters.warpInstructions = launch.issued;
  }

  void reset(CTA &cta, uint64_t linear);
  void fillSpecial(CTA &cta, Warp &w);

  Launch &launch;
  const std::vector<ExecutionObserver *> &observers;
  Report &report;
  uint64_t total;
  std::atomic<uint64_t> next{0}, done{0};
  std::mutex lock;
  std::map<uint64_t, Finished> waiting;
  uint64_t handed = 0;
};
} // namespace

void GridRunner::reset(CTA &cta, uint64_t linear) {
  const Kernel &k = launch.kernel;
  const Dim3 &grid = launch.shape.grid;
  cta.linear = linear;
  cta.id = {uint32_t(linear % grid.x), uint32_t(linear / grid.x % grid.y),
            uint32_t(linear / grid.x / grid.y)};
  cta.threads = uint32_t(launch.shape.block.count());
  uint32_t warps = (cta.threads + 31) / 32;
  // Uninitialised shared memory reads as NaNs; registers as zeros.
  cta.shared.assign(launch.sharedBytes, 0xFF);
  cta.local.assign(size_t(warps) * 32 * k.localBytes, 0xFF);
  // 64-byte alignment for the vector loads of handlers.
  size_t words = size_t(warps) * k.totalWords;
  cta.registerFile.assign(words + 16, 0);
  cta.predicateFile.assign(size_t(warps) * k.predicates, 0);
  auto address = reinterpret_cast<uintptr_t>(cta.registerFile.data());
  uint32_t *regs = cta.registerFile.data() + (64 - address % 64) % 64 / 4;
  cta.warps.assign(warps, {});
  cta.barriers = {};
  for (Barrier &b : cta.barriers)
    b.arrived.assign(warps, 0);
  cta.copies = 0;
  cta.status = Status::Ok;
  cta.onInstruction.clear();
  cta.onMemory.clear();
  cta.onCopy.clear();
  cta.onBarrier.clear();
  cta.onWgmma.clear();
  cta.onUndefined.clear();
  for (uint32_t n = 0; n < warps; ++n) {
    Warp &w = cta.warps[n];
    w.index = n;
    w.cta = &cta;
    w.regs = regs + size_t(n) * k.totalWords;
    w.preds = cta.predicateFile.data() + size_t(n) * k.predicates;
    w.preds[1] = ~0u;
    w.lists = k.lists.data();
    uint32_t lanes = std::min(32u, cta.threads - n * 32);
    w.live = w.group = lanes == 32 ? ~0u : (1u << lanes) - 1;
    std::copy(launch.readOnlyImage.begin(), launch.readOnlyImage.end(),
              w.regs + k.registerWords);
    fillSpecial(cta, w);
  }
}

/// Special registers: PTX ISA 9.1 chapter 10.
static uint64_t specialValue(Special s, const Launch &launch, const CTA &cta,
                             const Warp &w, uint32_t lane) {
  const Dim3 &b = launch.shape.block, &g = launch.shape.grid;
  uint32_t t = w.index * 32 + lane;
  switch (s) {
  case Special::TidX:
    return t % b.x;
  case Special::TidY:
    return t / b.x % b.y;
  case Special::TidZ:
    return t / b.x / b.y;
  case Special::NtidX:
    return b.x;
  case Special::NtidY:
    return b.y;
  case Special::NtidZ:
    return b.z;
  case Special::CtaidX:
    return cta.id.x;
  case Special::CtaidY:
    return cta.id.y;
  case Special::CtaidZ:
    return cta.id.z;
  case Special::NctaidX:
    return g.x;
  case Special::NctaidY:
    return g.y;
  case Special::NctaidZ:
    return g.z;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return w.index;
  case Special::NWarpId:
    return cta.warps.size();
  case Special::NSmId:
    return 1;
  case Special::LanemaskEq:
    return 1u << lane;
  case Special::LanemaskLe:
    return (2ull << lane) - 1;
  case Special::LanemaskLt:
    return (1u << lane) - 1;
  case Special::LanemaskGe:
    return uint32_t(~0u << lane);
  case Special::LanemaskGt:
    return uint32_t(~1ull << lane);
  case Special::ClusterNctaRank:
    return 1;
  case Special::DynamicSmemSize:
    return launch.shape.dynamicSharedBytes;
  case Special::TotalSmemSize:
    return launch.sharedBytes;
  default:
    return 0;
  }
}

void GridRunner::fillSpecial(CTA &cta, Warp &w) {
  for (const ReadOnly &r : launch.kernel.readOnly) {
    if (r.kind != ReadOnly::SpecialRegister)
      continue;
    for (uint32_t l = 0; l < 32; ++l) {
      uint64_t v = specialValue(r.special, launch, cta, w, l);
      if (r.isWide)
        reinterpret_cast<uint64_t *>(w.regs + r.slot)[l] = v;
      else
        w.regs[r.slot + l] = uint32_t(v);
    }
  }
}

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

/// What is wrong with a launch, or nothing.
static std::optional<std::string>
checkLaunch(const KernelSignature &s, const LaunchShape &shape,
            const std::vector<Argument> &args) {
  auto text = [](const Dim3 &d) {
    return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" +
           std::to_string(d.z);
  };
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
  if (shape.cluster.count() != 1)
    return "cluster " + text(shape.cluster) + " is not supported; 1x1x1 is";
  if (s.requiredThreads && s.requiredThreads->count() != b.count())
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

Report Device::launch(const Module &module, const std::string &kernelName,
                      const LaunchShape &shape,
                      const std::vector<Argument> &args) {
  auto start = std::chrono::steady_clock::now();
  auto kernel = module.impl().decode(kernelName);
  if (!kernel)
    return invalid(kernel.error());
  const Kernel &k = **kernel;
  Diagnostic wrong;
  wrong.origin = "launch";
  wrong.location = k.signature.location;
  if (auto message = checkLaunch(k.signature, shape, args)) {
    wrong.message = *message;
    return invalid(wrong);
  }
  auto symbols = state->load(module);
  if (!symbols)
    return invalid(symbols.error());
  Launch launch{k, k.code, shape, opts, state->memory, {}, {}};
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
    i.handler = handlers[isJump ? jump : i.row];
    if (!i.handler) {
      wrong.message = "no handler for '" + k.info.instructions[pc].opcode + "'";
      wrong.location = k.info.location(uint32_t(pc));
      return invalid(wrong);
    }
  }
  Report report;
  for (ExecutionObserver *o : observers)
    o->kernelBegin({k.info, shape, k.staticShared, *this});
  GridRunner(launch, observers, report).run();
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  report.counters.seconds = time.count();
  for (ExecutionObserver *o : observers)
    o->kernelEnd(report);
  return report;
}
