//===- BulkCopy.cpp - bytes that move by themselves -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.9.25.4 and 26; bulk groups of a thread.
//
//===----------------------------------------------------------------------===//
#include "BulkCopy.h"
#include "Handlers.h"
#include "SmallFloat.h"

using namespace ptxvm;

void BulkCopy::notify(AccessKind kind, Space space, uint64_t address,
                      uint64_t size, const Allocation *buffer,
                      uint32_t ownerRank) {
  uint64_t addresses[32] = {};
  addresses[event.lane] = address;
  AccessEvent e{warp.index,     pc,
                kind,           space,
                Ordering::Weak, 1u << event.lane,
                uint32_t(size), addresses,
                nullptr,        buffer};
  e.proxy = Proxy::Async;
  e.ownerRank = ownerRank;
  for (CTAObserver *o : warp.cta->onMemory)
    o->memoryAccess(e);
}

/// What lies outside the tensor: zeros or NaNs, whose bits are *unverified*.
void BulkCopy::fillTile() {
  tile.assign(bytes, 0);
  if (fill == TensorFill::Zero)
    return;
  uint64_t pattern = 0x7FFFFFFFFFFFFFFF;
  uint32_t size = elementBytes(type);
  if (size == 4)
    pattern = kNaN32;
  else if (size == 2)
    pattern = kNaN16;
  for (uint32_t k = 0; k < bytes; k += size)
    std::memcpy(&tile[k], &pattern, size);
}

/// Types that change on their way: subnormals to zero, f32 to tf32 (to nearest
/// even, *unverified*).
void BulkCopy::convertTile() {
  bool isFlushed = type == TensorType::F32Ftz || type == TensorType::TF32Ftz;
  bool isRounded = type == TensorType::TF32 || type == TensorType::TF32Ftz;
  if (!isFlushed && !isRounded)
    return;
  for (uint32_t k = 0; k < bytes; k += 4) {
    uint32_t x;
    std::memcpy(&x, &tile[k], 4);
    if (isFlushed)
      x = bitsOf(flush(floatOf(x)));
    bool isFinite = (x & 0x7F800000) != 0x7F800000;
    if (isRounded && isFinite)
      x = (x + 0xFFF + (x >> 13 & 1)) & ~0x1FFFu;
    std::memcpy(&tile[k], &x, 4);
  }
}

void BulkCopy::readGlobal() {
  fillTile();
  for (const BulkRun &r : runs) {
    if (!warp.cta->onMemory.empty())
      notify(AccessKind::AsyncRead, Space::Global, r.address, r.bytes, r.buffer,
             warp.cta->rank);
    std::memcpy(&tile[r.offset], r.host, r.bytes);
  }
  convertTile();
}

void BulkCopy::read() {
  if (wasRead)
    return;
  wasRead = true;
  if (source.owner && !bytes) {
    // Nothing; there may not even be memory to read nothing from.
  } else if (source.owner) {
    if (!warp.cta->onMemory.empty())
      notify(AccessKind::AsyncRead, Space::Shared, source.offset, bytes,
             nullptr, source.owner->rank);
    tile.resize(bytes);
    const uint8_t *from = source.owner->shared.data();
    if (swizzle == TensorSwizzle::None)
      std::memcpy(tile.data(), from + source.offset, bytes);
    else
      for (uint32_t k = 0, n = chunk(); k < bytes; k += n)
        std::memcpy(&tile[k], from + swizzleAddress(swizzle, source.offset + k),
                    n);
  } else {
    readGlobal();
  }
  for (CTAObserver *o : warp.cta->onCopy)
    o->bulkCopyRead(event);
}

void BulkCopy::writeGlobal() {
  for (const BulkRun &r : runs) {
    if (!warp.cta->onMemory.empty())
      notify(AccessKind::AsyncWrite, Space::Global, r.address, r.bytes,
             r.buffer, warp.cta->rank);
    if (!r.buffer->initialised.empty())
      std::memset(&r.buffer->initialised[r.address - r.buffer->address], 1,
                  r.bytes);
    if (reduction == Reduction::None)
      std::memcpy(r.host, &tile[r.offset], r.bytes);
    else
      reduceElements(reduction, type, r.host, &tile[r.offset], r.bytes);
  }
}

void BulkCopy::writeShared(const SharedPlace &to) {
  if (!warp.cta->onMemory.empty())
    notify(AccessKind::AsyncWrite, Space::Shared, to.offset, bytes, nullptr,
           to.owner->rank);
  uint8_t *base = to.owner->shared.data();
  if (!bytes)
    return;
  if (reduction != Reduction::None)
    reduceElements(reduction, type, base + to.offset, tile.data(), bytes);
  else if (swizzle == TensorSwizzle::None)
    std::memcpy(base + to.offset, tile.data(), bytes);
  else
    for (uint32_t k = 0, n = chunk(); k < bytes; k += n)
      std::memcpy(base + swizzleAddress(swizzle, to.offset + k), &tile[k], n);
}

void BulkCopy::finish() {
  if (wasFinished)
    return;
  wasFinished = true;
  read();
  for (const BulkDestination &d : destinations) {
    if (d.place.owner != warp.cta && d.place.owner->hasExited()) {
      warp.cta->faultAt(pc, warp, "bounds",
                        "a bulk copy writes to the shared memory of CTA rank " +
                            std::to_string(d.place.owner->rank) +
                            ", which has exited",
                        int(event.lane));
      return;
    }
    writeShared(d.place);
  }
  if (destinations.empty())
    writeGlobal();
  for (CTAObserver *o : warp.cta->onCopy)
    o->bulkCopyCompleted(event);
  MbarrierActor actor{warp, pc, 0, true, Scope::Cluster, true, event.id};
  for (const BulkDestination &d : destinations)
    if (!completeTx(actor, d.mbarrier, bytes))
      return;
}

namespace {
class BulkOperation : public AsyncOperation {
public:
  BulkOperation(std::shared_ptr<BulkCopy> copy)
      : AsyncOperation(copy->warp, copy->pc), copy(std::move(copy)) {}
  void read() override { copy->read(); }
  void finish() override { copy->finish(); }
  bool isDone() const override { return copy->isDone(); }

private:
  std::shared_ptr<BulkCopy> copy;
};

uint64_t bulkStream(const Warp &w, unsigned lane) {
  return streamOf(AsyncStream::Bulk, w.cta->rank, w.index * 32 + lane);
}
} // namespace

void ptxvm::launchBulkCopy(std::shared_ptr<BulkCopy> copy) {
  Warp &w = copy->warp;
  for (CTAObserver *o : w.cta->onCopy)
    o->bulkCopyIssued(copy->event);
  AsyncQueue &queue = w.cta->cluster->queue;
  if (copy->destinations.empty()) {
    auto operation = std::make_unique<BulkOperation>(copy);
    operation->stream = bulkStream(w, copy->event.lane);
    operation->group = copy->event.group;
    return queue.add(std::move(operation));
  }
  for (const BulkDestination &d : copy->destinations) {
    auto operation = std::make_unique<BulkOperation>(copy);
    operation->signal = {d.mbarrier.owner, d.mbarrier.offset, 0, copy->bytes};
    queue.add(std::move(operation));
  }
}

namespace {
Flow commit(Warp &w, const Instruction &) {
  for (uint32_t m = w.mask; m; m &= m - 1)
    ++w.openBulkGroup[unsigned(__builtin_ctz(m))];
  BulkGroupEvent event{w.index, w.pc, w.mask, 0, false};
  for (CTAObserver *o : w.cta->onCopy)
    o->bulkGroupCommitted(event);
  return Flow::Next;
}

/// wait_group N: all but the N latest groups that were committed.
template <bool IsRead> Flow wait(Warp &w, const Instruction &i) {
  AsyncQueue &queue = w.cta->cluster->queue;
  uint32_t keep = uint32_t(i.imm);
  for (uint32_t m = queue.empty() ? 0 : w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint32_t open = w.openBulkGroup[l];
    if (open <= keep)
      continue;
    if (IsRead)
      queue.readGroups(bulkStream(w, l), open - keep);
    else
      queue.waitGroups(bulkStream(w, l), open - keep);
  }
  BulkGroupEvent event{w.index, w.pc, w.mask, keep, IsRead};
  for (CTAObserver *o : w.cta->onCopy)
    o->bulkGroupWaited(event);
  return w.cta->cluster->failed ? Flow::Stop : Flow::Next;
}
} // namespace

void ptxvm::addBulkCopy(HandlerList &list) {
  list.push_back({"bulk_commit", commit});
  list.push_back({"bulk_wait", wait<false>});
  list.push_back({"bulk_wait_read", wait<true>});
  addBulkIssue(list);
  addStoreAsync(list);
}
