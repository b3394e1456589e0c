//===- BulkIssue.cpp - instructions that start bulk copies ----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks what one lane asks for (alignment, bounds, the tensor map), and makes
// a BulkCopy of it. PTX ISA 9.1 sections 9.7.9.25 to 27.
//
//===----------------------------------------------------------------------===//
#include "BulkCopy.h"
#include "Handlers.h"
#include "TensorBox.h"
#include "TensorMapRead.h"

#include <cstdio>

using namespace ptxvm;

namespace {
std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
  return text;
}

/// One lane of one instruction. Each step returns false after a fault.
class BulkIssue {
public:
  BulkIssue(Warp &w, const Instruction &i, unsigned lane)
      : w(w), i(i), lane(lane), aux(BulkAux::unpack(i.aux)),
        direction(BulkCopyEvent::Direction(aux.direction)),
        copy(std::make_shared<BulkCopy>(w, w.pc)) {}

  bool run() {
    if (!(aux.rank ? tensor() : plain()) || !findRuns())
      return false;
    bool isStore = direction == BulkCopyEvent::SharedToGlobal;
    if (direction == BulkCopyEvent::Prefetch)
      ;
    else if (isStore ? !storeSource() : !destinations())
      return false;
    fillEvent();
    if (direction == BulkCopyEvent::Prefetch) {
      for (CTAObserver *o : w.cta->onCopy)
        o->bulkCopyIssued(copy->event);
      return true;
    }
    launchBulkCopy(copy);
    return !w.cta->cluster->failed;
  }

private:
  bool fail(const char *origin, std::string message) {
    w.cta->fault(w, origin, std::move(message), int(lane));
    return false;
  }
  uint32_t listed(unsigned k) const {
    return w.regs[w.lists[i.list + k] + lane];
  }
  uint64_t address(uint32_t slot, bool isWide, int32_t offset) const {
    if (isWide)
      return reinterpret_cast<const uint64_t *>(w.regs + slot)[lane] +
             uint64_t(int64_t(offset));
    return uint32_t(w.regs[slot + lane] + uint32_t(offset));
  }
  uint64_t otherAddress() const {
    return address(i.b, aux.wideOther, int32_t(i.dst));
  }

  bool plain();
  bool tensor();
  bool findRuns();
  bool shared(const char *what, uint64_t at, uint32_t align, uint64_t size,
              bool allowsRemote, SharedPlace &place);
  bool storeSource();
  bool destinations();
  bool addDestination(const SharedPlace &to, const SharedPlace &mbarrier);
  void fillEvent();

  Warp &w;
  const Instruction &i;
  unsigned lane;
  BulkAux aux;
  BulkCopyEvent::Direction direction;
  std::shared_ptr<BulkCopy> copy;
};
} // namespace

/// A range of bytes: the size is list[0].
bool BulkIssue::plain() {
  uint32_t size = listed(0);
  uint64_t at = otherAddress();
  if (size % 16)
    return fail("alignment", "a bulk copy of " + std::to_string(size) +
                                 " bytes; a multiple of 16 is allowed");
  if (at % 16)
    return fail("alignment", "the address " + hex(at) +
                                 " of a bulk copy is not aligned to 16");
  copy->bytes = size;
  copy->reduction = aux.reduction;
  copy->type = TensorType(aux.type);
  if (direction == BulkCopyEvent::SharedToShared)
    return shared("source", at, 16, size, false, copy->source);
  if (size && direction != BulkCopyEvent::Prefetch)
    copy->runs.push_back({nullptr, at, nullptr, 0, size});
  return true;
}

/// A box of a tensor: the map is at b, the coordinates are in the list.
bool BulkIssue::tensor() {
  std::string wrong;
  auto map = readTensorMap(w, otherAddress(), wrong);
  if (!map)
    return fail("tensor-map", wrong);
  if (map->rank != aux.rank)
    return fail("tensor-map",
                "the tensor map has rank " + std::to_string(map->rank) +
                    ", the instruction rank " + std::to_string(aux.rank));
  if (map->interleave != TensorInterleave::None)
    return fail("tensor-map", "unsupported: an interleaved tensor");
  uint32_t row = map->box[0] * elementBytes(map->type);
  uint32_t span = swizzleSpan(map->swizzle);
  // How rows narrower than the swizzle are laid out is *unverified*.
  if (span && row != span)
    return fail("tensor-map", "unsupported: rows of " + std::to_string(row) +
                                  " bytes with a swizzle of " +
                                  std::to_string(span));
  if (aux.isGather && map->box[1] != 1)
    return fail("tensor-map", "gather4 and scatter4 need a box of one row, "
                              "found " +
                                  std::to_string(map->box[1]));
  if (aux.reduction != Reduction::None && !canReduce(aux.reduction, map->type))
    return fail("tensor-map", "this reduction does not work on elements of the "
                              "tensor map's type");
  int32_t coordinates[5] = {};
  for (unsigned k = 0; k < (aux.isGather ? 5u : aux.rank); ++k)
    coordinates[k] = int32_t(listed(k));
  // A map may describe boxes of terabytes.
  uint64_t bytes = boxBytes(*map) * (aux.isGather ? 4 : 1);
  uint64_t most =
      direction == BulkCopyEvent::Prefetch ? UINT32_MAX : w.cta->shared.size();
  if (bytes > most)
    return fail("bounds", "the box of the tensor map has " +
                              std::to_string(bytes) + " bytes; there are " +
                              std::to_string(most) + " for it");
  copy->bytes = uint32_t(bytes);
  copy->swizzle = map->swizzle;
  copy->type = map->type;
  copy->fill = map->fill;
  copy->reduction = aux.reduction;
  if (direction != BulkCopyEvent::Prefetch)
    for (const TensorRun &r : boxRuns(*map, coordinates, aux.isGather))
      copy->runs.push_back({nullptr, r.address, nullptr, r.offset, r.bytes});
  return true;
}

/// Gives each run its host memory.
bool BulkIssue::findRuns() {
  bool isStore = direction == BulkCopyEvent::SharedToGlobal;
  for (BulkRun &r : copy->runs) {
    Allocation *b = w.lastBuffer;
    if (!b || !b->contains(r.address, r.bytes))
      b = w.cta->launch.memory.find(r.address);
    auto what = [&] {
      return std::string("a bulk copy ") + (isStore ? "writes " : "reads ") +
             std::to_string(r.bytes) + " bytes at " + hex(r.address);
    };
    if (!b || !b->contains(r.address, r.bytes))
      return fail("bounds", what() + ", which is out of bounds: " +
                                w.cta->launch.memory.describe(
                                    b ? b->address + b->bytes : r.address));
    if (isStore && b->readOnly)
      return fail("bounds",
                  what() + " of buffer '" + b->name + "', which is read-only");
    w.lastBuffer = b;
    r.buffer = b;
    r.host = b->data.data() + (r.address - b->address);
  }
  return true;
}

bool BulkIssue::shared(const char *what, uint64_t at, uint32_t align,
                       uint64_t size, bool allowsRemote, SharedPlace &place) {
  std::string name = std::string("the ") + what + " of a bulk copy, " +
                     std::to_string(size) + " bytes of shared memory at " +
                     hex(at);
  place = resolveShared(*w.cta, at);
  std::string why = unreachable(*w.cta, place, allowsRemote);
  if (!why.empty())
    return fail("bounds", name + ", cannot be reached: " + why);
  if (place.offset % align)
    return fail("alignment",
                name + ", is not aligned to " + std::to_string(align));
  size_t there = place.owner->shared.size();
  if (place.offset + size > there)
    return fail("bounds", name + ", is out of bounds: the CTA has " +
                              std::to_string(there) +
                              " bytes of shared memory");
  return true;
}

bool BulkIssue::storeSource() {
  uint64_t at = address(i.a, aux.wideShared, i.imm);
  return shared("source", at, aux.rank ? 128 : 16, copy->bytes, false,
                copy->source);
}

bool BulkIssue::addDestination(const SharedPlace &to,
                               const SharedPlace &mbarrier) {
  if (to.owner != mbarrier.owner)
    return fail("mbarrier", "the mbarrier of a bulk copy must be in the CTA of "
                            "its destination, rank " +
                                std::to_string(to.owner->rank));
  MbarrierActor actor{w, w.pc, 1u << lane};
  if (!findMbarrier(actor, mbarrier, MbarrierEvent::CompleteTx))
    return false;
  copy->destinations.push_back({to, mbarrier});
  return true;
}

bool BulkIssue::destinations() {
  SharedPlace to, mbarrier;
  uint64_t at = address(i.a, aux.wideShared, i.imm);
  uint64_t barrierAt = address(i.c, aux.wideMbarrier, int32_t(i.d));
  uint32_t align = aux.rank ? 128 : 16;
  if (!shared("destination", at, align, copy->bytes, aux.isCluster, to) ||
      !shared("mbarrier", barrierAt, 8, 8, aux.isCluster, mbarrier))
    return false;
  if (!aux.isMulticast)
    return addDestination(to, mbarrier);
  unsigned coordinates = aux.isGather ? 5 : aux.rank;
  uint32_t mask = listed(aux.rank ? coordinates : 1) & 0xFFFF;
  const auto &ctas = w.cta->cluster->ctas;
  if (!mask || mask >> ctas.size())
    return fail("bounds", "the multicast mask " + hex(mask) +
                              " does not fit a cluster of " +
                              std::to_string(ctas.size()) + " CTAs");
  copy->event.multicast = mask;
  for (uint32_t m = mask; m; m &= m - 1) {
    CTA *owner = ctas[size_t(__builtin_ctz(m))].get();
    if (owner->hasExited())
      return fail("bounds", "a multicast copy reaches CTA rank " +
                                std::to_string(owner->rank) +
                                ", which has exited");
    if (!addDestination({owner, to.offset}, {owner, mbarrier.offset}))
      return false;
  }
  return true;
}

void BulkIssue::fillEvent() {
  BulkCopyEvent &e = copy->event;
  e.id = w.cta->bulkCopies++;
  e.warp = w.index;
  e.pc = w.pc;
  e.lane = lane;
  e.direction = direction;
  e.isTensor = aux.rank != 0;
  e.isReduce = aux.reduction != Reduction::None;
  e.bytes = copy->bytes;
  e.group = w.openBulkGroup[lane];
  e.sharedRank = w.cta->rank;
  if (copy->source.owner) {
    e.sharedRank = copy->source.owner->rank;
    e.sharedAddress = e.sourceAddress = copy->source.offset;
  }
  if (copy->destinations.empty())
    return;
  const BulkDestination &first = copy->destinations.front();
  e.sharedRank = first.place.owner->rank;
  e.sharedAddress = first.place.offset;
  e.hasMbarrier = true;
  e.mbarrierRank = first.mbarrier.owner->rank;
  e.mbarrierAddress = first.mbarrier.offset;
}

static Flow issue(Warp &w, const Instruction &i) {
  for (uint32_t m = w.mask; m; m &= m - 1)
    if (!BulkIssue(w, i, unsigned(__builtin_ctz(m))).run())
      return Flow::Stop;
  return Flow::Next;
}

void ptxvm::addBulkIssue(HandlerList &list) { list.push_back({"bulk", issue}); }
