//===- LoadStore.cpp - ld and st ------------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 sections 9.7.9.8 and 9.7.9.11. Cache hints mean nothing here;
// orderings are told to observers and otherwise hold by themselves, since a
// CTA runs on one host thread and other CTAs are reached by host atomics.
//
// Two ways: pass() for whole warps that nobody watches, whose elements fill
// their registers; and access() for all others. pass() moves a block of 32
// vectors, which is the memory itself when the lanes lie side by side:
//
//   memory or block:  x0 y0 x1 y1 x2 y2 ...  <->  registers x: x0 x1 x2 ...
//                                                           y: y0 y1 y2 ...
// Compiled for each variant.
//
//===----------------------------------------------------------------------===//
#include "FastAccess.h"
#include "Lanes.h"
#include "MemoryAccess.h"

using namespace ptxvm;

namespace {
template <typename Memory, typename Register>
void loadElement(Warp &w, uint32_t slot, const Access &a, unsigned element) {
  auto *d = reinterpret_cast<Register *>(w.regs + slot);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    Memory x;
    std::memcpy(&x, a.pointer[l] + element * sizeof(Memory), sizeof(Memory));
    d[l] = Register(x);
  }
}

template <typename Memory>
void loadAs(Warp &w, uint32_t slot, const Access &a, unsigned element,
            MemoryAux aux) {
  using Signed = std::make_signed_t<Memory>;
  bool isSigned = aux.flags & MemoryAux::kSigned;
  if (aux.flags & MemoryAux::kWideRegister)
    isSigned ? loadElement<Signed, uint64_t>(w, slot, a, element)
             : loadElement<Memory, uint64_t>(w, slot, a, element);
  else
    isSigned ? loadElement<Signed, uint32_t>(w, slot, a, element)
             : loadElement<Memory, uint32_t>(w, slot, a, element);
}

template <typename Memory, typename Register>
void storeElement(Warp &w, uint32_t slot, const Access &a, unsigned element) {
  auto *s = reinterpret_cast<const Register *>(w.regs + slot);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    Memory x = Memory(s[l]);
    std::memcpy(a.pointer[l] + element * sizeof(Memory), &x, sizeof(Memory));
  }
}

template <typename Memory>
void storeAs(Warp &w, uint32_t slot, const Access &a, unsigned element,
             MemoryAux aux) {
  if (aux.flags & MemoryAux::kWideRegister)
    storeElement<Memory, uint64_t>(w, slot, a, element);
  else
    storeElement<Memory, uint32_t>(w, slot, a, element);
}

/// The same for all lanes at once: block[l * Count + e] <-> register e.
template <typename Memory, unsigned Count>
void moveBlock(Warp &w, const Instruction &i, uint8_t *block, bool isLoad) {
  using Register = Slot<Memory>;
  auto *memory = reinterpret_cast<Memory *>(block);
  for (unsigned e = 0; e < Count; ++e) {
    auto *r = reinterpret_cast<Register *>(w.regs + w.lists[i.list + e]);
    if (isLoad) {
      FA_FOR_LANES(l)
      r[l] = memory[l * Count + e];
    } else {
      FA_FOR_LANES(l)
      memory[l * Count + e] = Memory(r[l]);
    }
  }
}

using BlockMove = void (*)(Warp &, const Instruction &, uint8_t *, bool);

/// By the logarithms of the element's bytes and the number of elements.
constexpr BlockMove kBlockMoves[4][3] = {
    {moveBlock<uint8_t, 1>, moveBlock<uint8_t, 2>, moveBlock<uint8_t, 4>},
    {moveBlock<uint16_t, 1>, moveBlock<uint16_t, 2>, moveBlock<uint16_t, 4>},
    {moveBlock<uint32_t, 1>, moveBlock<uint32_t, 2>, moveBlock<uint32_t, 4>},
    {moveBlock<uint64_t, 1>, moveBlock<uint64_t, 2>, moveBlock<uint64_t, 4>}};

/// Copies between the lanes' places and the block.
template <unsigned Bytes>
void collect(const FastAccess &a, uint8_t *block, bool isLoad) {
  for (unsigned l = 0; l < 32; ++l) {
    uint8_t *place = a.base + a.at[l], *own = block + l * Bytes;
    isLoad ? std::memcpy(own, place, Bytes) : std::memcpy(place, own, Bytes);
  }
}
void collect(const FastAccess &a, uint32_t bytes, uint8_t *block, bool isLoad) {
  switch (bytes) {
  case 1:
    return collect<1>(a, block, isLoad);
  case 2:
    return collect<2>(a, block, isLoad);
  case 4:
    return collect<4>(a, block, isLoad);
  case 8:
    return collect<8>(a, block, isLoad);
  case 16:
    return collect<16>(a, block, isLoad);
  default:
    return collect<32>(a, block, isLoad);
  }
}

void markStored(const FastAccess &a, uint32_t bytes, bool isContiguous) {
  std::vector<uint8_t> &marks = a.buffer->initialised;
  if (marks.empty())
    return;
  if (isContiguous)
    std::memset(&marks[a.at[0]], 1, 32 * bytes);
  else
    for (uint32_t at : a.at)
      std::memset(&marks[at], 1, bytes);
}

/// False, with nothing done, when access() has to do it.
[[gnu::always_inline]] inline bool pass(Warp &w, const Instruction &i,
                                        MemoryAux aux, bool isLoad) {
  bool isWide = aux.flags & MemoryAux::kWideRegister;
  bool isExtended = aux.bytes < 4 && (aux.flags & MemoryAux::kSigned);
  if (w.mask != ~0u || isWide != (aux.bytes == 8) || isExtended ||
      aux.count > 4)
    return false;
  uint32_t bytes = uint32_t(aux.bytes) * aux.count;
  FastAccess a;
  bool isWideAddress = aux.flags & MemoryAux::kWideAddress;
  if (Space(aux.space) == Space::Shared && !isWideAddress) {
    if (!a.inShared(w, i.a, i.imm, bytes, ~0u))
      return false;
  } else if (Space(aux.space) == Space::Global && isWideAddress) {
    if (!a.inGlobal(w, i.a, i.imm, bytes, ~0u))
      return false;
    if (!isLoad && a.buffer->readOnly)
      return false;
  } else {
    return false;
  }
  bool isContiguous = a.isContiguous(bytes);
  if (!isLoad && a.buffer)
    markStored(a, bytes, isContiguous);
  alignas(64) uint8_t copy[32 * 32];
  uint8_t *block = isContiguous ? a.base + a.at[0] : copy;
  if (isLoad && !isContiguous)
    collect(a, bytes, copy, true);
  kBlockMoves[__builtin_ctz(aux.bytes)][aux.count >> 1](w, i, block, isLoad);
  if (!isLoad && !isContiguous)
    collect(a, bytes, copy, false);
  return true;
}

Flow access(Warp &w, const Instruction &i, AccessKind kind) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  if (pass(w, i, aux, kind == AccessKind::Load)) [[likely]]
    return Flow::Next;
  AccessRequest request{
      w.mask, i.a,       bool(aux.flags & MemoryAux::kWideAddress),
      i.imm,  aux.space, uint32_t(aux.bytes) * aux.count,
      kind,   true,      bool(aux.flags & MemoryAux::kCluster)};
  request.isStore = kind == AccessKind::Store;
  Access a;
  if (!resolveAccess(w, i, request, a))
    return Flow::Stop;
  for (unsigned e = 0; e < aux.count; ++e) {
    uint32_t slot = w.lists[i.list + e];
    bool isLoad = kind == AccessKind::Load;
    // ld.s8 into a 16-bit register: the slot keeps 16 bits zero-extended by the
    // consumers, which read no more than their type.
    switch (aux.bytes) {
    case 1:
      isLoad ? loadAs<uint8_t>(w, slot, a, e, aux)
             : storeAs<uint8_t>(w, slot, a, e, aux);
      break;
    case 2:
      isLoad ? loadAs<uint16_t>(w, slot, a, e, aux)
             : storeAs<uint16_t>(w, slot, a, e, aux);
      break;
    case 4:
      isLoad ? loadAs<uint32_t>(w, slot, a, e, aux)
             : storeAs<uint32_t>(w, slot, a, e, aux);
      break;
    default:
      isLoad ? loadAs<uint64_t>(w, slot, a, e, aux)
             : storeAs<uint64_t>(w, slot, a, e, aux);
    }
  }
  return Flow::Next;
}

Flow load(Warp &w, const Instruction &i) {
  return access(w, i, AccessKind::Load);
}
Flow store(Warp &w, const Instruction &i) {
  return access(w, i, AccessKind::Store);
}
} // namespace

void ptxvm::FA_ISA::addLoadStore(HandlerList &list) {
  list.push_back({"ld", load});
  list.push_back({"st", store});
}
