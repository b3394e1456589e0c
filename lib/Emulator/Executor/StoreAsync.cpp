//===- StoreAsync.cpp - st.async and red.async ----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.9.12 and 9.7.13.8: a few bytes for the shared memory
// of a CTA of the cluster, whose mbarrier is told when they have come. They use
// the generic proxy, so observers see an AsyncWrite and no bulk copy.
//
//===----------------------------------------------------------------------===//
#include "BulkCopy.h"
#include "Handlers.h"

using namespace ptxvm;

namespace {
class AsyncStore : public AsyncOperation {
public:
  AsyncStore(Warp &w, const Instruction &i, unsigned lane)
      : AsyncOperation(w, w.pc), instruction(i), lane(lane) {}

  void finish() override {
    CTA &cta = *issuer.cta;
    if (place.owner != &cta && place.owner->hasExited()) {
      cta.faultAt(pc, issuer, "bounds",
                  "an asynchronous store reaches CTA rank " +
                      std::to_string(place.owner->rank) + ", which has exited",
                  int(lane));
      return;
    }
    if (!cta.onMemory.empty()) {
      uint64_t addresses[32] = {};
      addresses[lane] = place.offset;
      notifyAccess(issuer, instruction, pc, AccessKind::AsyncWrite,
                   Space::Shared, 1u << lane, uint32_t(signal.bytes), addresses,
                   nullptr, nullptr, place.owner->rank);
    }
    uint8_t *to = place.owner->shared.data() + place.offset;
    if (reduction == Reduction::None)
      std::memcpy(to, values, signal.bytes);
    else
      reduceElements(reduction, type, to, values, signal.bytes);
    MbarrierActor actor{issuer, pc, 0, true, Scope::Cluster, true};
    completeTx(actor, {signal.owner, signal.address}, signal.bytes);
  }

  const Instruction &instruction;
  unsigned lane;
  SharedPlace place{};
  Reduction reduction = Reduction::None;
  TensorType type = TensorType::U32;
  uint8_t values[32];
};

/// What is wrong with one, and the checker that says so; empty when nothing is.
struct Fault {
  const char *checker = "bounds";
  std::string why;
};

Fault checkPlace(Warp &w, const SharedPlace &p, uint32_t bytes) {
  std::string why = unreachable(*w.cta, p, true);
  if (!why.empty())
    return {"bounds", why};
  if (p.offset % bytes)
    return {"alignment", "it is not aligned to " + std::to_string(bytes)};
  if (p.offset + bytes > p.owner->shared.size())
    return {"bounds", "the CTA has " + std::to_string(p.owner->shared.size()) +
                          " bytes of shared memory"};
  return {};
}

uint64_t addressOf(const Warp &w, uint32_t slot, bool isWide, int32_t offset,
                   unsigned lane) {
  if (isWide)
    return reinterpret_cast<const uint64_t *>(w.regs + slot)[lane] +
           uint64_t(int64_t(offset));
  return uint32_t(w.regs[slot + lane] + uint32_t(offset));
}

bool issueLane(Warp &w, const Instruction &i, unsigned l) {
  BulkAux aux = BulkAux::unpack(i.aux);
  auto store = std::make_unique<AsyncStore>(w, i, l);
  store->type = TensorType(aux.type);
  store->reduction = aux.reduction;
  uint32_t size = elementBytes(store->type), bytes = size * aux.rank;
  for (unsigned k = 0; k < aux.rank; ++k) {
    const uint32_t *slot = w.regs + w.lists[i.list + k];
    if (size == 8)
      std::memcpy(store->values + 8 * k,
                  reinterpret_cast<const uint64_t *>(slot) + l, 8);
    else
      std::memcpy(store->values + 4 * k, slot + l, 4);
  }
  store->place =
      resolveShared(*w.cta, addressOf(w, i.a, aux.wideShared, i.imm, l));
  SharedPlace mbarrier = resolveShared(
      *w.cta, addressOf(w, i.c, aux.wideMbarrier, int32_t(i.d), l));
  Fault wrong = checkPlace(w, store->place, bytes);
  std::string what = "the destination of an asynchronous store";
  if (wrong.why.empty()) {
    wrong = checkPlace(w, mbarrier, 8);
    what = "the mbarrier of an asynchronous store";
  }
  if (wrong.why.empty() && mbarrier.owner != store->place.owner)
    wrong.why = "it must be in the CTA of the destination";
  if (!wrong.why.empty()) {
    w.cta->fault(w, wrong.checker, what + " cannot be reached: " + wrong.why,
                 int(l));
    return false;
  }
  MbarrierActor actor{w, w.pc, 1u << l};
  if (!findMbarrier(actor, mbarrier, MbarrierEvent::CompleteTx))
    return false;
  store->signal = {mbarrier.owner, mbarrier.offset, 0, bytes};
  w.cta->cluster->queue.add(std::move(store));
  return !w.cta->cluster->failed;
}

Flow issue(Warp &w, const Instruction &i) {
  for (uint32_t m = w.mask; m; m &= m - 1)
    if (!issueLane(w, i, unsigned(__builtin_ctz(m))))
      return Flow::Stop;
  return Flow::Next;
}
} // namespace

void ptxvm::addStoreAsync(HandlerList &list) {
  list.push_back({"st_async", issue});
}
