//===- AsyncCopy.cpp - cp.async -------------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.9.25.3. Groups belong to threads. A copy is checked
// when it is issued and moves its bytes when a wait of its thread asks for it,
// so a kernel that reads too early reads what was there before:
//
//   cp.async A      copies: [A, group 0]
//   commit_group    open group 1
//   cp.async B      copies: [A, 0] [B, 1]
//   commit_group    open group 2
//   wait_group 1    groups < 2 - 1 complete: A's bytes move now
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "Mbarrier.h"
#include "MemoryAccess.h"

using namespace ptxvm;

namespace {
void moveBytes(Warp &w, const Instruction &i, const PendingCopy &c,
               uint32_t lanes) {
  CTA &cta = *w.cta;
  if (!cta.onMemory.empty()) {
    uint32_t readers = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
      if (c.sourceBytes[unsigned(__builtin_ctz(m))])
        readers |= m & -m;
    if (readers)
      notifyAccess(
          w, i, c.pc, AccessKind::AsyncRead, Space::Global, readers, c.bytes,
          c.global.data(), c.sourceBytes.data(),
          cta.launch.memory.find(c.global[unsigned(__builtin_ctz(readers))]),
          cta.rank);
    notifyAccess(w, i, c.pc, AccessKind::AsyncWrite, Space::Shared, lanes,
                 c.bytes, c.shared.data(), nullptr, nullptr, cta.rank);
  }
  uint8_t *shared = cta.shared.data();
  if (c.isWhole && c.bytes == 16) {
    for (uint32_t m = lanes; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      std::memcpy(shared + c.shared[l], c.source[l], 16);
    }
  } else {
    for (uint32_t m = lanes; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      uint8_t *to = shared + c.shared[l];
      uint32_t n = c.sourceBytes[l];
      if (n)
        std::memcpy(to, c.source[l], n);
      std::memset(to + n, 0, c.bytes - n);
    }
  }
  for (CTAObserver *o : cta.onCopy)
    o->asyncCopyCompleted(w.index, c.id, lanes);
}

/// How many source bytes each lane reads; the rest is filled with zeros.
void sourceSizes(const Warp &w, const Instruction &i, PendingCopy &c) {
  for (unsigned l = 0; l < 32; ++l) {
    uint32_t n = i.aux & 0x200 ? w.regs[i.c + l] : c.bytes;
    if (i.aux & 0x400 && w.preds[i.d] >> l & 1)
      n = 0;
    c.sourceBytes[l] = n;
  }
}

/// Lanes that read fewer bytes than they are aligned to.
bool resolvePartial(Warp &w, const Instruction &i, PendingCopy &c,
                    uint32_t mask, int32_t offset) {
  const uint64_t *base = reinterpret_cast<const uint64_t *>(w.regs + i.b);
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    c.global[l] = base[l] + uint64_t(int64_t(offset));
    uint32_t n = c.sourceBytes[l];
    if (n > c.bytes) {
      w.cta->fault(w, "executor",
                   "cp.async with src-size " + std::to_string(n) +
                       " above its cp-size " + std::to_string(c.bytes),
                   int(l));
      return false;
    }
    Allocation *b = n ? w.cta->launch.memory.find(c.global[l]) : nullptr;
    c.source[l] = nullptr;
    if (!n)
      continue;
    if (!b || !b->contains(c.global[l], n) || c.global[l] & (c.bytes - 1)) {
      // The full-size check words the fault.
      AccessRequest r{1u << l,
                      i.b,
                      true,
                      offset,
                      uint8_t(Space::Global),
                      c.bytes,
                      AccessKind::AsyncRead,
                      false};
      Access a;
      return resolveAccess(w, i, r, a);
    }
    c.source[l] = b->data.data() + (c.global[l] - b->address);
  }
  return true;
}

/// Checks the addresses and fills in the rest of the copy; false on a fault.
bool prepare(Warp &w, const Instruction &i, PendingCopy &c) {
  Access a;
  AccessRequest request{w.mask,
                        i.a,
                        bool(i.aux & 0x100),
                        i.imm,
                        uint8_t(Space::Shared),
                        c.bytes,
                        AccessKind::AsyncWrite,
                        false};
  if (!resolveAccess(w, i, request, a))
    return false;
  std::memcpy(c.shared.data(), a.address, sizeof(a.address));
  sourceSizes(w, i, c);
  uint32_t whole = 0;
  for (unsigned l = 0; l < 32; ++l)
    whole |= uint32_t(c.sourceBytes[l] == c.bytes) << l;
  whole &= w.mask;
  c.isWhole = whole == w.mask;
  int32_t offset = int32_t(i.dst);
  if (whole) {
    AccessRequest source{whole,
                         i.b,
                         true,
                         offset,
                         uint8_t(Space::Global),
                         c.bytes,
                         AccessKind::AsyncRead,
                         false};
    if (!resolveAccess(w, i, source, a))
      return false;
    // The other lanes' are filled in by resolvePartial().
    std::memcpy(c.source.data(), a.pointer, sizeof(a.pointer));
    std::memcpy(c.global.data(), a.address, sizeof(a.address));
  }
  return resolvePartial(w, i, c, w.mask & ~whole, offset);
}

/// A loop that never waits is not to fill the host's memory: the oldest copies
/// of a warp end by themselves when it has issued this many more.
constexpr size_t kMostPending = 4096;

Flow issue(Warp &w, const Instruction &i) {
  if (w.copies.size() >= kMostPending)
    completeCopiesBefore(w, ~0u, w.copies[kMostPending / 2].id);
  PendingCopy &c = w.copies.emplace_back();
  c.id = w.cta->copies++;
  c.pc = w.pc;
  c.mask = w.mask;
  c.bytes = i.aux & 255;
  c.groupOf = w.openGroup;
  if (!prepare(w, i, c)) {
    w.copies.pop_back();
    return Flow::Stop;
  }
  if (!w.cta->onCopy.empty()) {
    AsyncCopyEvent event{w.index,         w.pc,           c.id,
                         w.mask,          c.bytes,        c.sourceBytes.data(),
                         c.shared.data(), c.global.data()};
    for (CTAObserver *o : w.cta->onCopy)
      o->asyncCopyIssued(event);
  }
  if (!w.cta->launch.options.lateCompletion) {
    moveBytes(w, i, c, c.mask);
    w.copies.pop_back();
  }
  return Flow::Next;
}

constexpr uint32_t kEverything = ~0u;

Flow commit(Warp &w, const Instruction &) {
  for (uint32_t m = w.mask; m; m &= m - 1)
    ++w.openGroup[unsigned(__builtin_ctz(m))];
  AsyncGroupEvent event{w.index, w.pc, w.mask, 0, false};
  for (CTAObserver *o : w.cta->onCopy)
    o->asyncCopyCommitted(event);
  return Flow::Next;
}

Flow wait(Warp &w, uint32_t pending) {
  completeCopies(w, w.mask, pending);
  bool isAll = pending == kEverything;
  AsyncGroupEvent event{w.index, w.pc, w.mask, isAll ? 0 : pending, isAll};
  for (CTAObserver *o : w.cta->onCopy)
    o->asyncCopyWaited(event);
  return Flow::Next;
}
/// Arrives at an mbarrier when the copies that its lanes have issued are done.
class CopyArrival : public AsyncOperation {
public:
  CopyArrival(Warp &w, uint32_t lanes, SharedPlace place)
      : AsyncOperation(w, w.pc), lanes(lanes), before(w.cta->copies) {
    signal = {place.owner, place.offset, uint32_t(__builtin_popcount(lanes)),
              0};
  }
  void finish() override {
    completeCopiesBefore(issuer, lanes, before);
    MbarrierActor actor{issuer, pc, lanes};
    actor.isAsync = true;
    arriveOn(actor, {signal.owner, signal.address}, signal.arrivals);
  }

private:
  uint32_t lanes;
  uint64_t before;
};

Flow arriveLater(Warp &w, const Instruction &i) {
  MbarrierLanes objects;
  if (!objects.resolve(w, i))
    return Flow::Stop;
  for (uint32_t rest = w.mask; rest;) {
    uint32_t same = objects.sameObject(w, rest);
    rest &= ~same;
    SharedPlace place = objects.place(unsigned(__builtin_ctz(same)), w);
    MbarrierActor actor{w, w.pc, same};
    if (!findMbarrier(actor, place, MbarrierEvent::Arrive))
      return Flow::Stop;
    uint32_t count = uint32_t(__builtin_popcount(same));
    if (!(i.d & MbarrierAux::kNoIncrement) && !addPending(actor, place, count))
      return Flow::Stop;
    w.cta->cluster->queue.add(std::make_unique<CopyArrival>(w, same, place));
    if (w.cta->cluster->failed)
      return Flow::Stop;
  }
  if (w.others.empty())
    return Flow::Next;
  ++w.pc;
  return Flow::Split;
}
} // namespace

void ptxvm::completeCopiesBefore(Warp &w, uint32_t lanes, uint64_t id) {
  for (PendingCopy &c : w.copies) {
    uint32_t ready = c.id < id ? c.mask & lanes : 0;
    if (!ready)
      continue;
    moveBytes(w, w.cta->launch.code[c.pc], c, ready);
    c.mask &= ~ready;
  }
  std::erase_if(w.copies, [](const PendingCopy &c) { return c.mask == 0; });
}

void ptxvm::completeCopies(Warp &w, uint32_t lanes, uint32_t pending) {
  for (PendingCopy &c : w.copies) {
    uint32_t ready = 0;
    for (unsigned l = 0; l < 32; ++l) {
      bool isReady = pending == kEverything ||
                     uint64_t(c.groupOf[l]) + pending < w.openGroup[l];
      ready |= uint32_t(isReady) << l;
    }
    ready &= c.mask & lanes;
    if (!ready)
      continue;
    moveBytes(w, w.cta->launch.code[c.pc], c, ready);
    c.mask &= ~ready;
  }
  std::erase_if(w.copies, [](const PendingCopy &c) { return c.mask == 0; });
}

void ptxvm::addAsyncCopy(HandlerList &list) {
  list.push_back({"cp_async", issue});
  list.push_back({"cp_mbarrier_arrive", arriveLater});
  list.push_back({"cp_commit", commit});
  list.push_back({"cp_wait", [](Warp &w, const Instruction &i) -> Flow {
                    return wait(w, uint32_t(i.imm));
                  }});
  list.push_back({"cp_wait_all", [](Warp &w, const Instruction &) -> Flow {
                    return wait(w, kEverything);
                  }});
}
