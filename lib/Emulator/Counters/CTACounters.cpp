//===- CTACounters.cpp - what one CTA asked for ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The models are those of fa/Emulator/Counters.h.
//
//===----------------------------------------------------------------------===//
#include "CTACounters.h"
#include "BankModel.h"

using namespace ptxvm;

static SharedKind sharedKindOf(AccessKind kind) {
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

TouchedSectors *TouchedBuffers::of(const Allocation *buffer) {
  if (!buffer)
    return nullptr;
  std::lock_guard<std::mutex> guard(lock);
  auto &sectors = all[buffer];
  if (!sectors)
    sectors = std::make_unique<TouchedSectors>(*buffer);
  return sectors.get();
}

void CTACounters::memoryAccess(const AccessEvent &e) {
  bool isAsync =
      e.kind == AccessKind::AsyncRead || e.kind == AccessKind::AsyncWrite;
  if (isAsync) {
    // cp.async counts when it is issued; so does the shared memory of bulk
    // copies.
    if (e.proxy == Proxy::Async && e.space == Space::Global)
      addGlobalRange(e);
    return;
  }
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

void CTACounters::asyncCopyIssued(const AsyncCopyEvent &e) {
  addShared(e.pc, SharedKind::AsyncWrite, e.shared, e.mask, e.bytes,
            lanesOfPhase(e.bytes));
  asyncBytes += uint64_t(e.bytes) * unsigned(__builtin_popcount(e.mask));
  uint32_t readers = 0;
  for (uint32_t m = e.mask; m; m &= m - 1)
    if (e.sourceBytes[__builtin_ctz(m)])
      readers |= m & -m;
  if (readers)
    addGlobal(e.global, readers, e.bytes, e.sourceBytes, nullptr, true, false);
}

void CTACounters::bulkCopyIssued(const BulkCopyEvent &e) {
  if (e.direction == BulkCopyEvent::Prefetch)
    return;
  unsigned receivers =
      e.multicast ? unsigned(__builtin_popcount(e.multicast)) : 1;
  asyncBytes += e.bytes * receivers;
  if (e.direction != BulkCopyEvent::SharedToGlobal)
    for (unsigned k = 0; k < receivers; ++k)
      addSharedRange(e.pc, SharedKind::BulkWrite, e.bytes);
  if (e.direction != BulkCopyEvent::GlobalToShared)
    addSharedRange(e.pc, SharedKind::BulkRead, e.bytes);
}

void CTACounters::wgmmaIssued(const WgmmaEvent &e) {
  for (const auto &ranges : {e.aShared, e.bShared}) {
    uint64_t bytes = 0;
    for (ByteRange r : ranges)
      bytes += r.end - r.begin;
    if (bytes)
      addSharedRange(e.pc, SharedKind::Wgmma, bytes);
  }
}

void CTACounters::addShared(uint32_t pc, SharedKind kind,
                            const uint64_t *addresses, uint32_t mask,
                            uint32_t bytes, unsigned lanesAtOnce) {
  Wavefronts w = countWavefronts(addresses, mask, bytes, lanesAtOnce);
  bool reads = kind == SharedKind::Load || kind == SharedKind::MatrixLoad;
  SharedTraffic t{1, uint64_t(bytes) * unsigned(__builtin_popcount(mask)),
                  w.actual, w.ideal, reads ? w.broadcasts : 0};
  shared[pc] += t;
  byKind[unsigned(kind)] += t;
  if (w.actual == w.ideal)
    return;
  if (kinds.empty())
    kinds.resize(shared.size());
  kinds[pc] = kind;
}

void CTACounters::addSharedRange(uint32_t pc, SharedKind kind, uint64_t bytes) {
  uint64_t wavefronts = (bytes + 127) / 128;
  SharedTraffic t{1, bytes, wavefronts, wavefronts, 0};
  shared[pc] += t;
  byKind[unsigned(kind)] += t;
}

CTACounters::Buffer &CTACounters::trafficOf(const Allocation *buffer) {
  for (Buffer &known : buffers)
    if (known.buffer == buffer)
      return known;
  buffers.push_back({buffer, {}, touched.of(buffer)});
  return buffers.back();
}

void CTACounters::addGlobal(const uint64_t *addresses, uint32_t mask,
                            uint32_t bytes, const uint32_t *lengths,
                            const Allocation *buffer, bool loads, bool stores) {
  // Nearly always one round: the lanes of an access share a buffer.
  while (mask) {
    uint64_t first = addresses[__builtin_ctz(mask)];
    if (!buffer || !buffer->contains(first, 1))
      buffer = findBuffer(first);
    Buffer &sum = trafficOf(buffer);
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
      if (sum.touched)
        sum.touched->touch(addresses[l]);
    }
    Sectors s = countSectors(addresses, own);
    t.sectors = s.sectors;
    t.lines = s.lines;
    if (loads)
      sum.traffic.loaded += t;
    if (stores)
      sum.traffic.stored += t;
    mask &= ~own;
  }
}

void CTACounters::addGlobalRange(const AccessEvent &e) {
  for (uint32_t m = e.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t at = e.addresses[l],
             end = at + (e.lengths ? e.lengths[l] : e.bytes);
    if (end == at)
      continue;
    Buffer &sum = trafficOf(findBuffer(at));
    for (uint64_t s = at / 32; s * 32 < end && sum.touched; ++s)
      sum.touched->touch(s * 32);
    GlobalTraffic t{end - at, (end + 31) / 32 - at / 32,
                    (end + 127) / 128 - at / 128};
    if (e.kind == AccessKind::AsyncRead)
      sum.traffic.loaded += t;
    else
      sum.traffic.stored += t;
  }
}

const Allocation *CTACounters::findBuffer(uint64_t address) const {
  for (const Buffer &known : buffers)
    if (known.buffer && known.buffer->contains(address, 1))
      return known.buffer;
  return device.findAllocation(address);
}
