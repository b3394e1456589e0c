//===- TensorMapReplace.cpp - tensor maps in memory -----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading a map for a copy, tensormap.replace and tensormap.cp_fenceproxy: PTX
// ISA 9.1 sections 5.5.8, 9.7.9.28 and 9.7.13.16. A changed map is checked when
// it is used, since several fields change one after another. The numbers of
// element types and of the swizzles' atoms are those of the tables of 9.7.9.28
// (*unverified*).
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "MemoryAccess.h"
#include "TensorMapRead.h"

using namespace ptxvm;

/// The 128 bytes at a generic address, or null.
static const uint8_t *mapBytes(Warp &w, uint64_t address) {
  Launch &launch = w.cta->launch;
  if (address >> 32 << 32 == kParamWindow) {
    uint64_t at = uint32_t(address);
    bool fits = at + 128 <= launch.parameters.size();
    return fits ? launch.parameters.data() + at : nullptr;
  }
  Allocation *b = launch.memory.find(address);
  if (!b || !b->contains(address, 128))
    return nullptr;
  return b->data.data() + (address - b->address);
}

std::optional<TensorMapShape> ptxvm::readTensorMap(Warp &w, uint64_t address,
                                                   std::string &wrong) {
  const uint8_t *bytes = mapBytes(w, address);
  std::optional<TensorMapShape> shape;
  if (!bytes)
    wrong = "the address of the tensor map is not one of parameter, const or "
            "global memory";
  else if (address % 64)
    wrong = "the tensor map is not aligned to 64";
  else if (!(shape = unpackTensorMap(bytes)))
    wrong = "these 128 bytes are no tensor map";
  else if (auto rule = checkTensorMap(*shape))
    wrong = "tensor map: " + *rule;
  return wrong.empty() ? shape : std::nullopt;
}

namespace {
/// The driver's number of the n-th element type of tensormap.replace.
TensorType elementType(uint64_t n) {
  using enum TensorType;
  static constexpr TensorType kTypes[] = {
      U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, BF16, TF32, TF32Ftz};
  return n < std::size(kTypes) ? kTypes[n] : Count;
}

/// Swizzle mode and atom are two fields of the instruction and one of the map.
TensorSwizzle withAtom(TensorSwizzle old, uint64_t atom) {
  if (swizzleSpan(old) != 128)
    return atom == 0 ? old : TensorSwizzle::Count;
  static constexpr TensorSwizzle kByAtom[] = {
      TensorSwizzle::Bytes128, TensorSwizzle::Bytes128Atom32,
      TensorSwizzle::Bytes128Atom32Flip8, TensorSwizzle::Bytes128Atom64};
  return atom < 4 ? kByAtom[atom] : TensorSwizzle::Count;
}

void replaceField(TensorMapShape &s, unsigned field, uint32_t dimension,
                  uint64_t value) {
  switch (field) {
  case 0:
    s.address = value;
    break;
  case 1:
    s.rank = uint32_t(value) + 1;
    break;
  case 2:
    s.box[dimension] = uint32_t(value);
    break;
  case 3:
    s.dims[dimension] = uint32_t(value);
    break;
  case 4:
    s.strides[dimension] = value;
    break;
  case 5:
    s.elementStrides[dimension] = uint32_t(value);
    break;
  case 6:
    s.type = elementType(value);
    break;
  case 7:
    s.interleave =
        value < 3 ? TensorInterleave(value) : TensorInterleave::Count;
    break;
  case 8:
    s.swizzle = value < 4 ? TensorSwizzle(value) : TensorSwizzle::Count;
    break;
  case 9:
    s.fill = value < 2 ? TensorFill(value) : TensorFill::Count;
    break;
  default:
    s.swizzle = withAtom(s.swizzle, value);
  }
}

Flow replace(Warp &w, const Instruction &i) {
  MemoryAux aux = MemoryAux::unpack(i.aux);
  AccessRequest request{w.mask,
                        i.a,
                        bool(aux.flags & MemoryAux::kWideAddress),
                        i.imm,
                        aux.space,
                        128,
                        AccessKind::Store};
  Access a;
  if (!resolveAccess(w, i, request, a))
    return Flow::Stop;
  bool isWide = i.d == 0 || i.d == 4;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    auto shape = unpackTensorMap(a.pointer[l]);
    if (!shape)
      return w.cta->fault(w, "tensor-map", "these 128 bytes are no tensor map",
                          int(l));
    uint64_t value = isWide
                         ? reinterpret_cast<const uint64_t *>(w.regs + i.b)[l]
                         : w.regs[i.b + l];
    replaceField(*shape, i.d, i.c, value);
    TensorMap map = packTensorMap(*shape);
    std::memcpy(a.pointer[l], map.bytes.data(), 128);
  }
  return Flow::Next;
}

/// The warp copies one map from shared to global memory and fences it.
Flow copyMap(Warp &w, const Instruction &i) {
  uint32_t one = w.mask & -w.mask;
  AccessRequest from{one,
                     i.a,
                     bool(i.aux),
                     i.imm,
                     uint8_t(Space::Shared),
                     128,
                     AccessKind::Load};
  AccessRequest to{one,
                   i.b,
                   true,
                   int32_t(i.dst),
                   uint8_t(Space::Global),
                   128,
                   AccessKind::Store};
  Access source, target;
  if (!resolveAccess(w, i, from, source) || !resolveAccess(w, i, to, target))
    return Flow::Stop;
  unsigned l = unsigned(__builtin_ctz(one));
  std::memcpy(target.pointer[l], source.pointer[l], 128);
  FenceEvent event{w.index,         w.pc,
                   w.mask,          FenceEvent::Release,
                   scopeOf(i.mods), FenceEvent::Tensormap};
  for (CTAObserver *o : w.cta->onBarrier)
    o->fence(event);
  return Flow::Next;
}
} // namespace

void ptxvm::addTensorMap(HandlerList &list) {
  list.push_back({"tensormap_replace", replace});
  list.push_back({"tensormap_copy", copyMap});
}
