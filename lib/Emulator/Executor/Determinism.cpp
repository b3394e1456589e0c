//===- Determinism.cpp - one launch in many orders ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `--order=random:FIRST..LAST`: the launch is run with each seed on the same
// memory, and must leave the same bits. What differs is run twice more, to see
// which instruction wrote the first byte that differs. The memory of the first
// seed is what stays.
//
//===----------------------------------------------------------------------===//
#include "../Decoder/ModuleImpl.h"
#include "DeviceState.h"
#include "fa/Emulator/ExecutionObserver.h"

#include <cstdio>
#include <mutex>

using namespace ptxvm;

namespace {
/// The buffers of a device at one moment.
class Image {
public:
  explicit Image(const DeviceState &state)
      : heapAddress(state.heap.address()), blocks(state.heap.blocks) {
    for (const auto &buffer : state.memory.all())
      copies.push_back(*buffer);
  }
  void restore(DeviceState &state) const {
    for (const Allocation &copy : copies)
      *state.memory.find(copy.address) = copy;
    state.heap.blocks = blocks;
  }
  const std::vector<Allocation> &buffers() const { return copies; }
  /// Which thread gets which block depends on the order by its nature.
  bool isHeap(const Allocation &buffer) const {
    return buffer.address == heapAddress;
  }

private:
  std::vector<Allocation> copies;
  uint64_t heapAddress;
  DeviceHeap::Blocks blocks;
};

struct Difference {
  const Allocation *first = nullptr, *second = nullptr;
  uint64_t offset = 0, count = 0;
  explicit operator bool() const { return first; }
};

Difference compare(const Image &one, const Image &other) {
  Difference d;
  for (size_t k = 0; k < one.buffers().size(); ++k) {
    const Allocation &a = one.buffers()[k], &b = other.buffers()[k];
    if (one.isHeap(a))
      continue;
    for (uint64_t at = 0; at < a.bytes; ++at) {
      if (a.data[at] == b.data[at])
        continue;
      if (!d)
        d = {&a, &b, at, 0};
      d.count += d.first == &a;
    }
    if (d)
      break;
  }
  return d;
}

/// Sees who writes a byte last.
class Watch : public ExecutionObserver {
public:
  explicit Watch(uint64_t address) : address(address) {}

  struct Writer {
    bool isKnown = false;
    Diagnostic where;
  } writer;

  std::string_view name() const override { return "determinism"; }
  uint32_t interests() const override { return kMemory; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override;

  void wrote(const CodeInfo &code, Dim3 cta, uint32_t pc, uint32_t warp,
             uint32_t lane) {
    std::lock_guard<std::mutex> guard(lock);
    writer.isKnown = true;
    writer.where.location = code.location(pc);
    writer.where.source = code.source(pc);
    writer.where.points = {{code.kernel, cta, int(warp), int(lane)}};
  }
  const uint64_t address;

private:
  std::mutex lock;
};

class WatchCTA : public CTAObserver {
public:
  WatchCTA(const CTAEvent &event, Watch &watch)
      : code(event.code), cta(event.cta), watch(watch) {}

  void memoryAccess(const AccessEvent &e) override {
    bool isRead = e.kind == AccessKind::Load ||
                  e.kind == AccessKind::MatrixLoad ||
                  e.kind == AccessKind::AsyncRead;
    for (uint32_t m = isRead || e.space != Space::Global ? 0 : e.mask; m;
         m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      if (watch.address - e.addresses[l] < e.bytes)
        watch.wrote(code, cta, e.pc, e.warp, l);
    }
  }

private:
  const CodeInfo &code;
  Dim3 cta;
  Watch &watch;
};

std::unique_ptr<CTAObserver> Watch::ctaBegin(const CTAEvent &event) {
  return std::make_unique<WatchCTA>(event, *this);
}

std::string bytesAt(const Allocation &b, uint64_t offset) {
  std::string text = "0x";
  for (uint64_t k = std::min<uint64_t>(4, b.bytes - offset); k-- > 0;) {
    char digits[4];
    std::snprintf(digits, sizeof(digits), "%02x", b.data[offset + k]);
    text += digits;
  }
  return text;
}
} // namespace

static std::string describe(const Difference &d, uint64_t first,
                            uint64_t second) {
  auto order = [](uint64_t seed) {
    return " with --order=random:" + std::to_string(seed);
  };
  return "the result depends on the order of warps and CTAs: buffer '" +
         d.first->name + "' has " + bytesAt(*d.first, d.offset) + " at byte " +
         std::to_string(d.offset) + order(first) + " and " +
         bytesAt(*d.second, d.offset) + order(second) + "; " +
         std::to_string(d.count) +
         (d.count == 1 ? " byte of it differs" : " bytes of it differ");
}

Report Device::launchInEachOrder(const Module &module,
                                 const std::string &kernel,
                                 const LaunchShape &shape,
                                 const std::vector<Argument> &args) {
  OrderPolicy range = opts.order;
  std::vector<ExecutionObserver *> all = observers;
  auto runWith = [&](uint64_t seed) {
    opts.order = {OrderPolicy::Random, seed, seed};
    return launch(module, kernel, shape, args);
  };
  // What is wrong with the kernel or its variables, the launch says.
  if (auto decoded = module.impl().decode(kernel)) {
    (void)bool(state->load(module, (*decoded)->globals));
    if ((*decoded)->usesHeap)
      state->heap.open(state->memory);
  }
  Image before(*state);
  Report report = runWith(range.seed);
  Image result(*state);
  std::erase_if(observers,
                [](const ExecutionObserver *o) { return o->countsOnce(); });
  for (uint64_t seed = range.seed; report.ok() && seed++ < range.lastSeed;) {
    before.restore(*state);
    Report next = runWith(seed);
    report.counters.seconds += next.counters.seconds;
    if (!next.ok()) {
      report.status = next.status;
      report.diagnostics = next.diagnostics;
      break;
    }
    Image other(*state);
    Difference d = compare(result, other);
    if (!d)
      continue;
    Watch watch(d.first->address + d.offset);
    before.restore(*state);
    observers = {&watch};
    runWith(seed);
    Diagnostic finding = std::move(watch.writer.where);
    finding.origin = "determinism";
    finding.message = describe(d, range.seed, seed);
    report.diagnostics.push_back(std::move(finding));
    report.status = Status::Fault;
  }
  result.restore(*state);
  observers = std::move(all);
  opts.order = range;
  return report;
}
