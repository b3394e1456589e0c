//===- MemoryAccess.cpp - addresses to bytes ------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State spaces and generic addressing: PTX ISA 9.1 sections 5.1 and 6.4.1.
//
//===----------------------------------------------------------------------===//
#include "MemoryAccess.h"
#include "Cluster.h"

#include <cstdio>

using namespace ptxvm;

static const char *kindName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Load:
    return "load";
  case AccessKind::Store:
    return "store";
  case AccessKind::Atomic:
    return "atomic access";
  case AccessKind::MatrixLoad:
    return "matrix load";
  case AccessKind::MatrixStore:
    return "matrix store";
  case AccessKind::AsyncRead:
    return "asynchronous read";
  case AccessKind::AsyncWrite:
    return "asynchronous write";
  }
  return "access";
}

static const char *spaceName(Space space) {
  static constexpr const char *kNames[] = {"global", "shared", "local",
                                           "param"};
  return kNames[unsigned(space)];
}

/// What a wrong address would be in another space, or "".
static std::string otherSpace(const CTA &cta, Space space, uint64_t address) {
  constexpr uint64_t kSmall = 1 << 24;
  uint64_t window = address >> 32 << 32;
  const char *generic = window == kSharedWindow  ? "shared"
                        : window == kLocalWindow ? "local"
                        : window == kParamWindow ? "param"
                                                 : nullptr;
  if (generic)
    return std::string("it is a generic address of ") + generic +
           " memory; cvta.to." + generic + " gives the address in that space";
  if (space == Space::Global)
    return address < kSmall ? "it is no address of a buffer but a small "
                              "number, as addresses of shared memory are"
                            : "";
  if (Allocation *b = cta.launch.memory.find(address))
    return "it is an address of global memory, in buffer '" + b->name + "'";
  return "";
}

static void failAt(Warp &w, const char *origin, const AccessRequest &r,
                   Space space, uint64_t address, const std::string &why,
                   int lane) {
  char at[32];
  std::snprintf(at, sizeof(at), "0x%llx", (unsigned long long)address);
  w.cta->fault(w, origin,
               std::string(spaceName(space)) + " " + kindName(r.kind) + " of " +
                   std::to_string(r.bytes) + " bytes at " + at + why,
               lane);
}

static bool fail(Warp &w, const AccessRequest &r, Space space, uint64_t address,
                 int lane) {
  const CTA &cta = *w.cta;
  if (address & (r.bytes - 1)) {
    failAt(w, "alignment", r, space, address,
           " is not aligned to " + std::to_string(r.bytes), lane);
    return false;
  }
  Allocation *b =
      space == Space::Global ? cta.launch.memory.find(address) : nullptr;
  if (b && b->contains(address, r.bytes)) {
    failAt(w, "bounds", r, space, address,
           " writes to buffer '" + b->name + "', which is read-only", lane);
    return false;
  }
  if (std::string other = otherSpace(cta, space, address); !other.empty()) {
    failAt(w, "space", r, space, address, " is in the wrong space: " + other,
           lane);
    return false;
  }
  std::string where;
  if (space == Space::Global)
    where = cta.launch.memory.describe(address);
  else if (space == Space::Shared)
    where = "the CTA has " + std::to_string(cta.shared.size()) +
            " bytes of shared memory";
  else if (space == Space::Local)
    where = "the thread has " + std::to_string(cta.launch.kernel.localBytes) +
            " bytes of local memory";
  else
    where = "the kernel has " + std::to_string(cta.launch.parameters.size()) +
            " bytes of parameters";
  failAt(w, "bounds", r, space, address, " is out of bounds: " + where, lane);
  return false;
}

static bool isStore(AccessKind kind) {
  return kind == AccessKind::Store || kind == AccessKind::Atomic ||
         kind == AccessKind::MatrixStore || kind == AccessKind::AsyncWrite;
}

/// A lane's pointer into a window of `size` bytes at `base`, or null.
static inline uint8_t *inWindow(uint8_t *base, uint64_t size, uint64_t at,
                                uint32_t bytes) {
  bool fits = at <= size && size - at >= bytes && !(at & (bytes - 1));
  return fits ? base + at : nullptr;
}

static inline void markInitialised(Allocation &b, uint64_t at, uint32_t bytes) {
  if (!b.initialised.empty())
    std::memset(&b.initialised[at - b.address], 1, bytes);
}

static inline uint8_t *inGlobal(Warp &w, uint64_t at, const AccessRequest &r) {
  Allocation *b = w.lastBuffer;
  if (!b || !b->contains(at, r.bytes)) {
    b = w.cta->launch.memory.find(at);
    if (!b || !b->contains(at, r.bytes))
      return nullptr;
    w.lastBuffer = b;
  }
  if (at & (r.bytes - 1))
    return nullptr;
  uint64_t offset = at - b->address;
  if (isStore(r.kind)) {
    if (b->readOnly)
      return nullptr;
    // What an atomic reads is looked at by observers first.
    if (r.kind != AccessKind::Atomic)
      markInitialised(*b, at, r.bytes);
  }
  return b->data.data() + offset;
}

/// An address that names a CTA of the cluster.
static bool resolveMapped(Warp &w, const AccessRequest &r, unsigned l,
                          Access &a) {
  CTA &cta = *w.cta;
  SharedPlace place = resolveShared(cta, a.address[l]);
  bool allowsRemote = r.isCluster || r.space == MemoryAux::kGeneric;
  std::string why = unreachable(cta, place, allowsRemote);
  if (!why.empty()) {
    failAt(w, "bounds", r, Space::Shared, a.address[l],
           " is out of bounds: " + why, int(l));
    return false;
  }
  a.address[l] = place.offset;
  a.pointer[l] = inWindow(place.owner->shared.data(),
                          place.owner->shared.size(), place.offset, r.bytes);
  if (!a.pointer[l])
    return fail(w, r, Space::Shared, place.offset, int(l));
  if (place.owner != &cta) {
    a.remote |= 1u << l;
    a.owner[l] = uint8_t(place.owner->rank);
  }
  return true;
}

static bool resolveLane(Warp &w, const AccessRequest &r, Space space,
                        unsigned l, Access &a) {
  CTA &cta = *w.cta;
  uint64_t at = a.address[l];
  uint8_t *p = nullptr;
  switch (space) {
  case Space::Global:
    p = inGlobal(w, at, r);
    break;
  case Space::Shared:
    p = inWindow(cta.shared.data(), cta.shared.size(), at, r.bytes);
    if (!p && at > kOffsetMask && at == uint32_t(at))
      return resolveMapped(w, r, l, a);
    break;
  case Space::Local: {
    uint64_t size = cta.launch.kernel.localBytes;
    p = inWindow(cta.local.data() + (w.index * 32 + l) * size, size, at,
                 r.bytes);
    break;
  }
  case Space::Param:
    if (!isStore(r.kind))
      p = inWindow(cta.launch.parameters.data(), cta.launch.parameters.size(),
                   at, r.bytes);
    break;
  }
  a.pointer[l] = p;
  return p || fail(w, r, space, at, int(l));
}

void ptxvm::notifyAccess(Warp &w, const Instruction &i, uint32_t pc,
                         AccessKind kind, Space space, uint32_t mask,
                         uint32_t bytes, const uint64_t *addresses,
                         const uint32_t *lengths, const Allocation *buffer,
                         uint32_t ownerRank) {
  AccessEvent event{
      w.index, pc,        kind,    space,  orderingOf(i.mods), mask,
      bytes,   addresses, lengths, buffer, scopeOf(i.mods)};
  event.ownerRank = ownerRank;
  for (CTAObserver *o : w.cta->onMemory)
    o->memoryAccess(event);
}

/// AccessEvent::storedBytes of st.
static void storedBytes(const AccessEvent &e, unsigned lane, uint8_t *to) {
  const Warp &w = *static_cast<const Warp *>(e.storeState[0]);
  const Instruction &i = *static_cast<const Instruction *>(e.storeState[1]);
  MemoryAux aux = MemoryAux::unpack(i.aux);
  for (unsigned k = 0; k < aux.count; ++k, to += aux.bytes) {
    const uint32_t *reg = w.regs + w.lists[i.list + k];
    bool isWide = aux.flags & MemoryAux::kWideRegister || aux.bytes == 8;
    std::memcpy(to, reg + (isWide ? 2 * lane : lane), aux.bytes);
  }
}

/// One event for the executing CTA's memory, and one for each other owner.
static void notifyByOwner(Warp &w, const Instruction &i, const AccessRequest &r,
                          Space space, uint32_t mask, const Access &a) {
  uint32_t remote = space == Space::Shared ? a.remote & mask : 0;
  if (uint32_t own = mask & ~remote) {
    AccessEvent event{w.index,
                      w.pc,
                      r.kind,
                      space,
                      orderingOf(i.mods),
                      own,
                      r.bytes,
                      a.address,
                      nullptr,
                      space == Space::Global ? a.buffer : nullptr,
                      scopeOf(i.mods)};
    event.ownerRank = w.cta->rank;
    if (r.isStore) {
      event.storedBytes = storedBytes;
      event.memory = a.pointer;
      event.storeState[0] = &w;
      event.storeState[1] = &i;
    }
    for (CTAObserver *o : w.cta->onMemory)
      o->memoryAccess(event);
  }
  while (remote) {
    uint32_t owner = a.owner[__builtin_ctz(remote)], same = 0;
    for (uint32_t m = remote; m; m &= m - 1)
      if (a.owner[__builtin_ctz(m)] == owner)
        same |= m & -m;
    notifyAccess(w, i, w.pc, r.kind, space, same, r.bytes, a.address, nullptr,
                 nullptr, owner);
    remote &= ~same;
  }
}

/// All lanes of the warp, in the CTA's own shared memory or in the buffer that
/// was used last; false, with nothing done, when that does not hold.
static bool resolveAll(Warp &w, const AccessRequest &r, Space space,
                       Access &a) {
  uint64_t start = 0, size = 0;
  uint8_t *base = nullptr;
  Allocation *b = w.lastBuffer;
  if (space == Space::Shared) {
    base = w.cta->shared.data();
    size = w.cta->shared.size();
  } else if (space == Space::Global && b && !(isStore(r.kind) && b->readOnly)) {
    base = b->data.data();
    start = b->address;
    size = b->bytes;
  }
  if (size < r.bytes)
    return false;
  // The sign of (most - x) | x is set when x > most, as for x >= 2^63.
  uint64_t most = size - r.bytes, beyond = 0, odd = 0;
  for (unsigned l = 0; l < 32; ++l) {
    uint64_t x = a.address[l] - start;
    beyond |= (most - x) | x;
    odd |= a.address[l];
    // Of lanes that are out of bounds it is no pointer at all.
    a.pointer[l] = reinterpret_cast<uint8_t *>(uintptr_t(base) + x);
  }
  if (beyond >> 63 || (odd & (r.bytes - 1)))
    return false;
  if (space == Space::Global && isStore(r.kind) &&
      r.kind != AccessKind::Atomic && !b->initialised.empty())
    for (unsigned l = 0; l < 32; ++l)
      markInitialised(*b, a.address[l], r.bytes);
  return true;
}

/// All lanes of `mask`, which lie in one space.
static bool resolveSpace(Warp &w, const Instruction &i, const AccessRequest &r,
                         Space space, uint32_t mask, Access &a) {
  if (mask != ~0u || !resolveAll(w, r, space, a))
    for (uint32_t m = mask; m; m &= m - 1)
      if (!resolveLane(w, r, space, unsigned(__builtin_ctz(m)), a))
        return false;
  if (space == Space::Global) {
    a.buffer = w.lastBuffer;
    uint64_t first = a.address[__builtin_ctz(mask)];
    if (!a.buffer->contains(first, 1))
      a.buffer = w.cta->launch.memory.find(first);
  }
  if (!w.cta->onMemory.empty() && r.notifies) [[unlikely]]
    notifyByOwner(w, i, r, space, mask, a);
  if (space == Space::Global && r.kind == AccessKind::Atomic)
    for (uint32_t m = mask; m; m &= m - 1) {
      uint64_t at = a.address[__builtin_ctz(m)];
      if (Allocation *b = w.cta->launch.memory.find(at))
        markInitialised(*b, at, r.bytes);
    }
  return true;
}

static Space spaceOfGeneric(uint64_t &address) {
  uint64_t window = address >> 32 << 32;
  Space space = window == kSharedWindow  ? Space::Shared
                : window == kLocalWindow ? Space::Local
                : window == kParamWindow ? Space::Param
                                         : Space::Global;
  if (space != Space::Global)
    address = uint32_t(address);
  return space;
}

bool ptxvm::resolveAccess(Warp &w, const Instruction &i, const AccessRequest &r,
                          Access &a) {
  if (r.isWideAddress) {
    const uint64_t *base =
        reinterpret_cast<const uint64_t *>(w.regs + r.addressSlot);
    for (unsigned l = 0; l < 32; ++l)
      a.address[l] = base[l] + uint64_t(int64_t(r.offset));
  } else {
    const uint32_t *base = w.regs + r.addressSlot;
    for (unsigned l = 0; l < 32; ++l)
      a.address[l] = uint32_t(base[l] + uint32_t(r.offset));
  }
  if (r.space != MemoryAux::kGeneric)
    return resolveSpace(w, i, r, Space(r.space), r.mask, a);
  uint32_t masks[4] = {};
  for (uint32_t m = r.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    masks[unsigned(spaceOfGeneric(a.address[l]))] |= 1u << l;
  }
  for (unsigned s = 0; s < 4; ++s)
    if (masks[s] && !resolveSpace(w, i, r, Space(s), masks[s], a))
      return false;
  return true;
}
