//===- BulkFamilies.cpp - operands of bulk copies -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk, cp.reduce.async.bulk, their tensor and prefetch forms, and
// tensormap.replace. PTX ISA 9.1 sections 9.7.9.25 to 28.
//
//   load           [dst], [src], size, [mbar] {, ctaMask} {, policy}
//   store, reduce  [dst], [src], size {, policy}
//   prefetch       [src], size {, policy}
//   tensor load    [dst], [map, {coords}], [mbar] {, ctaMask} {, policy}
//   tensor store   [map, {coords}], [src] {, policy}
//   tensor prefetch [map, {coords}] {, policy}
//
//===----------------------------------------------------------------------===//
#include "../Parser/Parser.h"
#include "BulkAux.h"
#include "Families.h"
#include "fa/Emulator/TensorMap.h"

#include <algorithm>

using namespace ptxvm;
using ast::Operand;

namespace {
/// Walks the operands of one instruction.
struct BulkOperands {
  FamilyDecoders &d;
  size_t at = 0;

  const Operand &next() { return d.s.operands[at++]; }
};
} // namespace

static Reduction reductionOf(const OpcodeMatch &m) {
  static constexpr const char *kNames[] = {"add", "min", "max", "inc",
                                           "dec", "and", "or",  "xor"};
  for (unsigned k = 0; k < 8; ++k)
    if (m.has(kNames[k]))
      return Reduction(k + 1);
  return Reduction::None;
}

static TensorType typeOf(std::string_view type) {
  static constexpr std::pair<const char *, TensorType> kTypes[] = {
      {"u32", TensorType::U32}, {"b32", TensorType::U32},
      {"s32", TensorType::S32}, {"u64", TensorType::U64},
      {"b64", TensorType::U64}, {"s64", TensorType::S64},
      {"f16", TensorType::F16}, {"bf16", TensorType::BF16},
      {"f32", TensorType::F32}, {"f64", TensorType::F64}};
  for (auto &[name, value] : kTypes)
    if (type == name)
      return value;
  return TensorType::Count;
}

/// An address of shared memory, or with `isShared` false a generic or global
/// one. `wide` says how many bits its register has.
void FamilyDecoders::bulkAddress(const Operand &o, uint32_t Instruction::*base,
                                 uint8_t bit, bool isShared, bool &wide) {
  MemoryAux aux{1, 1, 0,
                isShared ? uint8_t(Space::Shared) : MemoryAux::kGeneric};
  uint8_t before = d.fields;
  f.address(o, d, aux, base);
  d.fields = before | bit;
  wide = aux.flags & MemoryAux::kWideAddress;
  if (isShared && aux.space != uint8_t(Space::Shared))
    f.fail(o.at, "expected an address of shared memory");
  if (!isShared && !wide)
    f.fail(o.at, "a global address needs a 64-bit register");
}

/// [map, {coordinates}]: the map goes to b, the coordinates to the list.
void FamilyDecoders::bulkTensor(const Operand &o, unsigned rank, bool isGather,
                                bool &wide) {
  if (o.kind != Operand::Address || o.elements.size() != 2)
    f.fail(o.at, "expected [tensorMap, {coordinates}]");
  Operand map = o;
  map.elements.pop_back();
  MemoryAux aux{1, 1, 0, MemoryAux::kGeneric};
  uint8_t before = d.fields;
  f.address(map, d, aux, &Instruction::b);
  d.fields = before | kFieldB;
  d.inst.dst = uint32_t(d.inst.imm);
  wide = aux.flags & MemoryAux::kWideAddress;
  if (!wide)
    f.fail(o.at, "the address of a tensor map needs a 64-bit register");
  // A name in parameter space stands for its offset there.
  if (aux.space == uint8_t(Space::Param))
    f.fail(o.at, "a tensor map is named by a generic address; take that of the "
                 "parameter with cvta.param");
  auto coordinates = elements(o.elements[1]);
  size_t want = isGather ? 5 : rank;
  if (coordinates.size() != want)
    f.fail(o.elements[1].at, "'" + d.info.opcode + "' takes " +
                                 std::to_string(want) + " coordinates, found " +
                                 std::to_string(coordinates.size()));
  for (const Operand &c : coordinates)
    d.list.push_back(f.source(c, false, d));
}

static unsigned rankOf(const OpcodeMatch &m) {
  static constexpr const char *kRanks[] = {"1d", "2d", "3d", "4d", "5d"};
  for (unsigned k = 0; k < 5; ++k)
    if (m.has(kRanks[k]))
      return k + 1;
  return 0;
}

/// What the words say; refuses those that do not go together.
static BulkAux formOf(const FamilyDecoders &d, FunctionDecoder &f) {
  const OpcodeMatch &m = d.m;
  BulkAux aux;
  bool isStore = m.has("bulk_group");
  aux.direction = m.has("prefetch") ? BulkCopyEvent::Prefetch
                  : isStore         ? BulkCopyEvent::SharedToGlobal
                  : m.has("global") ? BulkCopyEvent::GlobalToShared
                                    : BulkCopyEvent::SharedToShared;
  aux.rank = uint8_t(m.has("tensor") ? rankOf(m) : 0);
  aux.isMulticast = m.has("multicast::cluster");
  aux.isGather = m.has("tile::gather4") || m.has("tile::scatter4");
  aux.isCluster = m.has("shared::cluster");
  aux.reduction = m.has("reduce") ? reductionOf(m) : Reduction::None;
  return aux;
}

void FamilyDecoders::bulk() {
  BulkAux aux = formOf(*this, f);
  bool isTensor = m.has("tensor");
  bool isStore = aux.direction == BulkCopyEvent::SharedToGlobal;
  bool isPrefetch = aux.direction == BulkCopyEvent::Prefetch;
  bool hasPolicy = m.has("L2::cache_hint");
  auto refuse = [&] {
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  };
  if (isTensor && !aux.rank)
    refuse();
  if (m.has("reduce") && aux.reduction == Reduction::None)
    refuse();
  if (aux.isMulticast && !aux.isCluster)
    refuse();
  if (aux.isGather && (aux.rank != 2 || m.has("tile::scatter4") != isStore))
    refuse();
  if (aux.isGather && f.targetNumber() < 100)
    f.fail(s.at, "'" + d.info.opcode + "' needs sm_100; this file is for " +
                     f.module.target);
  // The order of the spaces tells a load into the own CTA from a store.
  auto word = [&](std::string_view w) {
    return std::find(m.words.begin(), m.words.end(), w) - m.words.begin();
  };
  bool isShared = m.has("shared") && m.has("global") && !isPrefetch;
  if (isShared && (word("global") < word("shared")) != isStore)
    refuse();
  size_t n = isTensor ? (isPrefetch ? 1
                         : isStore  ? 2
                                    : 3)
                      : (isPrefetch ? 2
                         : isStore  ? 3
                                    : 4);
  n += size_t(aux.isMulticast) + size_t(hasPolicy);
  f.needOperands(s, n, n);
  bulkOperands(aux, isTensor);
  d.inst.aux = aux.pack();
  if (hasPolicy)
    f.source(s.operands[n - 1], true, d);
}

/// The operands, up to the cache policy.
void FamilyDecoders::bulkOperands(BulkAux &aux, bool isTensor) {
  BulkOperands operands{*this};
  bool isStore = aux.direction == BulkCopyEvent::SharedToGlobal;
  bool isPrefetch = aux.direction == BulkCopyEvent::Prefetch;
  bool isInside = aux.direction == BulkCopyEvent::SharedToShared;
  auto shared = [&] {
    bulkAddress(operands.next(), &Instruction::a, kFieldA, true,
                aux.wideShared);
  };
  auto other = [&] {
    if (isTensor) {
      bulkTensor(operands.next(), aux.rank, aux.isGather, aux.wideOther);
      return;
    }
    bulkAddress(operands.next(), &Instruction::b, kFieldB, isInside,
                aux.wideOther);
    d.inst.dst = uint32_t(d.inst.imm);
  };
  // imm keeps the offset of the shared side: it is read last.
  int32_t mbarrierOffset = 0;
  if (isStore || isPrefetch)
    other();
  size_t sharedAt = operands.at;
  if (!isPrefetch)
    ++operands.at;
  if (!isStore && !isPrefetch)
    other();
  if (!isTensor)
    d.list.push_back(f.source(operands.next(), false, d));
  if (!isStore && !isPrefetch) {
    bulkAddress(operands.next(), &Instruction::c, kFieldC, true,
                aux.wideMbarrier);
    mbarrierOffset = d.inst.imm;
  }
  d.inst.d = uint32_t(mbarrierOffset);
  if (aux.isMulticast)
    d.list.push_back(f.source(operands.next(), false, d));
  if (!isPrefetch) {
    operands.at = sharedAt;
    shared();
  }
  if (aux.reduction != Reduction::None && !isTensor)
    aux.type = uint8_t(typeOf(m.types.back()));
}

// tensormap.replace.tile.field.space.b1024.type [a] {, dimension}, value. PTX
// ISA 9.1 section 9.7.9.28. imm holds the offset, d the field, c the dimension.
void FamilyDecoders::tensormap() {
  static constexpr const char *kFields[] = {
      "global_address",   "rank",
      "box_dim",          "global_dim",
      "global_stride",    "element_stride",
      "elemtype",         "interleave_layout",
      "swizzle_mode",     "fill_mode",
      "swizzle_atomicity"};
  unsigned field = 0;
  while (field < 11 && !m.has(kFields[field]))
    ++field;
  if (field == 11)
    f.fail(s.at, "unsupported instruction '" + d.info.opcode + "'");
  bool hasDimension = field >= 2 && field <= 5;
  bool isImmediate = field >= 6;
  bool isWide = field == 0 || field == 4;
  if (isWide != (m.types.back() == "b64"))
    f.fail(s.at, "'" + d.info.opcode + "' needs " + (isWide ? ".b64" : ".b32") +
                     " for this field");
  f.needOperands(s, hasDimension ? 3 : 2, hasDimension ? 3 : 2);
  MemoryAux aux{128, 1, 0, spaceWord()};
  f.address(s.operands[0], d, aux);
  d.inst.aux = aux.pack();
  d.inst.d = field;
  if (hasDimension)
    d.inst.c = uint32_t(f.immediate(s.operands[1]));
  if (hasDimension && d.inst.c > (field == 4 ? 3u : 4u))
    f.fail(s.operands[1].at, "dimension " + std::to_string(d.inst.c) +
                                 " is not one of '" + d.info.opcode + "'");
  const Operand &value = s.operands.back();
  if (isImmediate)
    f.immediate(value);
  data(&Instruction::b, kFieldB, value, isWide);
}

// tensormap.cp_fenceproxy [dst], [src], 128.
void FamilyDecoders::tensormapcopy() {
  f.needOperands(s, 3, 3);
  if (f.immediate(s.operands[2]) != 128)
    f.fail(s.operands[2].at, "the size of a tensor map is 128");
  bool wide = false;
  bulkAddress(s.operands[0], &Instruction::b, kFieldB, false, wide);
  d.inst.dst = uint32_t(d.inst.imm);
  bulkAddress(s.operands[1], &Instruction::a, kFieldA, true, wide);
  d.inst.aux = wide;
}

// st.async [a], b, [mbar] and red.async. PTX ISA 9.1 sections 9.7.9.12 and
// 9.7.13.8: as bulk copies, with the values in the list.
void FamilyDecoders::storeasync() {
  f.needOperands(s, 3, 3);
  BulkAux aux;
  aux.isCluster = true;
  aux.reduction = reductionOf(m);
  std::string_view type = m.types.back();
  auto values = elements(s.operands[1]);
  size_t want = m.has("v4") ? 4 : m.has("v2") ? 2 : 1;
  if (values.size() != want)
    f.fail(s.operands[1].at, "'" + d.info.opcode + "' moves " +
                                 std::to_string(want) + " elements, found " +
                                 std::to_string(values.size()));
  for (const Operand &o : values)
    d.list.push_back(f.source(o, typeBytes(type) == 8, d));
  bulkAddress(s.operands[2], &Instruction::c, kFieldC, true, aux.wideMbarrier);
  d.inst.d = uint32_t(d.inst.imm);
  bulkAddress(s.operands[0], &Instruction::a, kFieldA, true, aux.wideShared);
  aux.type = uint8_t(typeOf(type));
  aux.rank = uint8_t(values.size());
  d.inst.aux = aux.pack();
}
