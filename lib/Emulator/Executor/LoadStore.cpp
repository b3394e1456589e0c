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
//===----------------------------------------------------------------------===//
#include "Handlers.h"
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

Flow access(Warp &w, const Instruction &i, AccessKind kind) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  AccessRequest request{
      w.mask, i.a,       bool(aux.flags & MemoryAux::kWideAddress),
      i.imm,  aux.space, uint32_t(aux.bytes) * aux.count,
      kind,   true,      bool(aux.flags & MemoryAux::kCluster)};
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

void ptxvm::addLoadStore(HandlerList &list) {
  list.push_back({"ld", load});
  list.push_back({"st", store});
}
