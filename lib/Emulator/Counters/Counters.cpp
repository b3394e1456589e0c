//===- Counters.cpp - what a kernel asked for -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA counts by pc, which costs an addition; names are looked up once for
// each CTA, when its counts are added to the sums.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Counters.h"

#include "BankModel.h"

#include <cstdio>

using namespace ptxvm;

namespace {
SharedKind sharedKindOf(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
  case AccessKind::AsyncRead:
    return SharedKind::Load;
  case AccessKind::Store:
    return SharedKind::Store;
  case AccessKind::Atomic:
    return SharedKind::Atomic;
  case AccessKind::MatrixLoad:
    return SharedKind::MatrixLoad;
  case AccessKind::MatrixStore:
    return SharedKind::MatrixStore;
  case AccessKind::AsyncWrite:
    return SharedKind::AsyncWrite;
  }
  return SharedKind::Load;
}

struct CTACounters : CTAObserver {
  CTACounters(const Device &device, size_t instructions)
      : device(device), issued(instructions), shared(instructions) {}

  const Device &device;
  std::vector<OpcodeCount> issued;   ///< by pc
  std::vector<SharedTraffic> shared; ///< by pc
  std::array<SharedTraffic, kSharedKinds> byKind{};
  std::vector<SharedKind> kinds; ///< of shared[pc], made when first needed
  /// Buffers that this CTA touches; few, so they are searched.
  std::vector<std::pair<const Allocation *, BufferTraffic>> buffers;
  uint64_t asyncBytes = 0;

  void instructionIssued(const IssueEvent &e) override {
    ++issued[e.pc].instructions;
    issued[e.pc].lanes += uint64_t(__builtin_popcount(e.active));
  }

  void memoryAccess(const AccessEvent &e) override {
    // cp.async counts when it is issued.
    if (e.kind == AccessKind::AsyncRead || e.kind == AccessKind::AsyncWrite)
      return;
    if (e.space == Space::Shared) {
      bool isMatrix =
          e.kind == AccessKind::MatrixLoad || e.kind == AccessKind::MatrixStore;
      addShared(e.pc, sharedKindOf(e.kind), e.addresses, e.mask, e.bytes,
                isMatrix ? 8 : lanesOfPhase(e.bytes));
    } else if (e.space == Space::Global) {
      bool loads = e.kind == AccessKind::Load || e.kind == AccessKind::Atomic ||
                   e.kind == AccessKind::MatrixLoad;
      bool stores =
          e.kind != AccessKind::Load && e.kind != AccessKind::MatrixLoad;
      addGlobal(e.addresses, e.mask, e.bytes, nullptr, e.allocation, loads,
                stores);
    }
  }

  void asyncCopyIssued(const AsyncCopyEvent &e) override {
    addShared(e.pc, SharedKind::AsyncWrite, e.shared, e.mask, e.bytes,
              lanesOfPhase(e.bytes));
    asyncBytes += uint64_t(e.bytes) * unsigned(__builtin_popcount(e.mask));
    uint32_t readers = 0;
    for (uint32_t m = e.mask; m; m &= m - 1)
      if (e.sourceBytes[__builtin_ctz(m)])
        readers |= m & -m;
    if (readers)
      addGlobal(e.global, readers, e.bytes, e.sourceBytes, nullptr, true,
                false);
  }

private:
  void addShared(uint32_t pc, SharedKind kind, const uint64_t *addresses,
                 uint32_t mask, uint32_t bytes, unsigned lanesAtOnce) {
    Wavefronts w = countWavefronts(addresses, mask, bytes, lanesAtOnce);
    SharedTraffic t{1, uint64_t(bytes) * unsigned(__builtin_popcount(mask)),
                    w.actual, w.ideal};
    shared[pc] += t;
    byKind[unsigned(kind)] += t;
    if (w.actual == w.ideal)
      return;
    if (kinds.empty())
      kinds.resize(shared.size());
    kinds[pc] = kind;
  }

  BufferTraffic &trafficOf(const Allocation *buffer) {
    for (auto &[known, traffic] : buffers)
      if (known == buffer)
        return traffic;
    buffers.push_back({buffer, {}});
    return buffers.back().second;
  }

  void addGlobal(const uint64_t *addresses, uint32_t mask, uint32_t bytes,
                 const uint32_t *lengths, const Allocation *buffer, bool loads,
                 bool stores) {
    // Nearly always one round: the lanes of an access share a buffer.
    while (mask) {
      uint64_t first = addresses[__builtin_ctz(mask)];
      if (!buffer || !buffer->contains(first, 1))
        buffer = findBuffer(first);
      GlobalTraffic t;
      uint32_t own = 0;
      for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = unsigned(__builtin_ctz(m));
        bool isOwn =
            buffer ? buffer->contains(addresses[l], 1) : addresses[l] == first;
        if (!isOwn)
          continue;
        own |= m & -m;
        t.bytes += lengths ? lengths[l] : bytes;
      }
      Sectors s = countSectors(addresses, own);
      t.sectors = s.sectors;
      t.lines = s.lines;
      BufferTraffic &sum = trafficOf(buffer);
      if (loads)
        sum.loaded += t;
      if (stores)
        sum.stored += t;
      mask &= ~own;
    }
  }

  const Allocation *findBuffer(uint64_t address) {
    for (const auto &[known, traffic] : buffers)
      if (known && known->contains(address, 1))
        return known;
    return device.findAllocation(address);
  }
};

const char *categoryName(Category category) {
  static constexpr const char *kNames[] = {
      "integer", "float",   "convert", "compare",    "move",   "special",
      "load",    "store",   "atomic",  "async_copy", "matrix", "mma",
      "shuffle", "barrier", "fence",   "control"};
  return kNames[unsigned(category)];
}

bool endsWith(const std::string &text, const char *end) {
  size_t n = std::char_traits<char>::length(end);
  return text.size() >= n && !text.compare(text.size() - n, n, end);
}
} // namespace

const char *ptxvm::sharedKindName(SharedKind kind) {
  static constexpr const char *kNames[kSharedKinds] = {
      "load", "store", "atomic", "ldmatrix", "stmatrix", "cp_async"};
  return kNames[unsigned(kind)];
}

Counters::Counters() = default;
Counters::~Counters() = default;

uint32_t Counters::interests() const {
  return kInstructions | kMemory | kAsyncCopies;
}

void Counters::kernelBegin(const KernelEvent &event) {
  device = &event.device;
  code = &event.code;
  issued.assign(code->instructions.size(), {});
  accessed.assign(code->instructions.size(), {});
  kinds.assign(code->instructions.size(), SharedKind::Load);
}

std::unique_ptr<CTAObserver> Counters::ctaBegin(const CTAEvent &event) {
  return std::make_unique<CTACounters>(*device, event.code.instructions.size());
}

void Counters::ctaEnd(const CTAEvent &event, CTAObserver &observer,
                      bool completed) {
  const CTACounters &cta = static_cast<const CTACounters &>(observer);
  ++ctas;
  asyncBytes += cta.asyncBytes;
  for (const auto &[buffer, traffic] : cta.buffers) {
    BufferTraffic &sum = byBuffer[buffer ? buffer->name : "unknown"];
    sum.loaded += traffic.loaded;
    sum.stored += traffic.stored;
  }
  for (unsigned k = 0; k < kSharedKinds; ++k)
    byKind[k] += cta.byKind[k];
  for (uint32_t pc = 0; pc < issued.size(); ++pc) {
    issued[pc].instructions += cta.issued[pc].instructions;
    issued[pc].lanes += cta.issued[pc].lanes;
    accessed[pc] += cta.shared[pc];
    if (cta.shared[pc].conflicts())
      kinds[pc] = cta.kinds[pc];
  }
}

void Counters::kernelEnd(Report &) {
  for (uint32_t pc = 0; pc < issued.size(); ++pc) {
    const InstructionInfo &info = code->instructions[pc];
    if (issued[pc].instructions)
      addInstructions(info, issued[pc]);
    if (accessed[pc].conflicts())
      addConflicts(info, kinds[pc], accessed[pc]);
  }
}

void Counters::addConflicts(const InstructionInfo &info, SharedKind kind,
                            const SharedTraffic &traffic) {
  char key[32];
  std::snprintf(key, sizeof(key), "%09u:%05u", info.line, info.column);
  ConflictSite &site = bySite[code->kernel + ":" + key];
  site.line = info.line;
  site.opcode = info.opcode;
  site.kind = kind;
  site.traffic += traffic;
}

void Counters::addInstructions(const InstructionInfo &i,
                               const OpcodeCount &count) {
  warpInstructions += count.instructions;
  OpcodeCount &sum = byOpcode[i.opcode];
  sum.instructions += count.instructions;
  sum.lanes += count.lanes;
  byCategory[categoryName(i.category)] += count.instructions;
  if (i.category == Category::SpecialFunction) {
    bool isPair = endsWith(i.opcode, "x2");
    operationsOf[i.mnemonic] += count.lanes * (isPair ? 2 : 1);
  }
  if (i.m) {
    // All 32 lanes work on one product.
    uint64_t products = count.lanes / 32;
    mmasOf[i.mmaType] += products;
    flopsOf[i.mmaType] += products * 2 * i.m * i.n * i.k;
  }
}

GlobalTraffic Counters::loaded() const {
  GlobalTraffic sum;
  for (const auto &[buffer, traffic] : byBuffer)
    sum += traffic.loaded;
  return sum;
}
GlobalTraffic Counters::stored() const {
  GlobalTraffic sum;
  for (const auto &[buffer, traffic] : byBuffer)
    sum += traffic.stored;
  return sum;
}

std::vector<ConflictSite> Counters::conflicts() const {
  std::vector<ConflictSite> sites;
  for (const auto &[key, site] : bySite)
    sites.push_back(site);
  return sites;
}

uint64_t Counters::instructions(const std::string &prefix) const {
  uint64_t sum = 0;
  for (const auto &[opcode, count] : byOpcode)
    if (opcode == prefix || !opcode.compare(0, prefix.size() + 1, prefix + "."))
      sum += count.instructions;
  return sum;
}

uint64_t Counters::operations(const std::string &mnemonic) const {
  auto found = operationsOf.find(mnemonic);
  return found == operationsOf.end() ? 0 : found->second;
}

uint64_t Counters::flops(const std::string &mmaType) const {
  auto found = flopsOf.find(mmaType);
  return found == flopsOf.end() ? 0 : found->second;
}

void Counters::reset() { *this = Counters(); }
