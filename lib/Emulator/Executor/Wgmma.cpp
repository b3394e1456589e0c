//===- Wgmma.cpp - wgmma.mma_async and its waits --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.15. How the four warps meet, and what they must agree
// on. The queue of a warp is in WgmmaQueue.cpp, the arithmetic in
// WgmmaShare.cpp.
//
//===----------------------------------------------------------------------===//
#include "Wgmma.h"
#include "Cluster.h"
#include "Handlers.h"

#include <algorithm>
#include <span>

using namespace ptxvm;

namespace {
const std::string &opcodeOf(const Warp &w, uint32_t pc) {
  return w.cta->launch.kernel.info.instructions[pc].opcode;
}

WgmmaState &stateOf(CTA &cta) {
  if (!cta.wgmma) {
    cta.wgmma = std::make_shared<WgmmaState>();
    cta.wgmma->warps = std::vector<WgmmaQueue>(cta.warps.size());
    cta.wgmma->groups.resize((cta.warps.size() + 3) / 4);
  }
  return *cta.wgmma;
}

/// Reports what is wrong with the instruction at hand.
bool refuse(Warp &w, const char *origin, const std::string &message,
            int lane = -1) {
  w.cta->fault(w, origin, opcodeOf(w, w.pc) + ": " + message, lane);
  return false;
}

/// One value of a 64-bit register that all lanes must agree on.
bool readUniform(Warp &w, uint32_t slot, const char *name, uint64_t &value) {
  const uint64_t *lanes = reinterpret_cast<const uint64_t *>(w.regs + slot);
  value = lanes[0];
  for (unsigned l = 1; l < 32; ++l)
    if (lanes[l] != value)
      return refuse(w, "wgmma", std::string(name) + " differs among the lanes",
                    int(l));
  return true;
}

bool checkBounds(Warp &w, const WgmmaMatrix &m, uint32_t rows, bool isMNMajor,
                 const char *name) {
  uint64_t size = w.cta->shared.size();
  // The last chunk before the swizzle, which stays inside its 128 bytes.
  uint64_t last =
      isMNMajor ? m.start + uint64_t(rows / 8) * std::max(m.stride, m.leading) +
                      7ull * std::max(m.span, 16u) +
                      std::max(m.stride, m.leading) + 128
                : m.start + 7ull * std::max(m.span, 16u) +
                      uint64_t(rows / 8 - 1) * m.stride +
                      (m.span ? 16 : m.leading) + 128;
  if (last + 128 <= size) [[likely]]
    return true;
  for (uint32_t chunk : wgmmaChunks(m, rows, isMNMajor))
    if (chunk + 16ull > size)
      return refuse(w, "bounds",
                    std::string("matrix ") + name +
                        " reaches the 16 bytes at byte " +
                        std::to_string(chunk) + ": the CTA has " +
                        std::to_string(size) + " bytes of shared memory");
  return true;
}

bool readMatrix(Warp &w, uint32_t slot, const char *name, WgmmaMatrix &m) {
  uint64_t descriptor;
  std::string what = std::string(name) + "-desc";
  if (!readUniform(w, slot, what.c_str(), descriptor))
    return false;
  if (auto problem = decodeWgmmaMatrix(descriptor, m))
    return refuse(w, "wgmma", what + ": " + *problem);
  return true;
}

bool readOperands(Warp &w, const Instruction &i, WgmmaOperation &op) {
  op.pc = w.pc;
  op.firstWarp = w.index / 4 * 4;
  op.form = WgmmaForm::unpack(i.aux);
  uint32_t scale = w.preds[i.c] ^ (op.form.isScaleNegated ? ~0u : 0);
  op.accumulates = scale != 0;
  if (scale != 0 && scale != ~0u)
    return refuse(w, "wgmma", "scale-d differs among the lanes");
  if (!op.form.aInRegisters && !readMatrix(w, i.a, "a", op.a))
    return false;
  return readMatrix(w, i.b, "b", op.b);
}

/// The first warp of a group that came, and the one that is here, disagree.
bool checkAgreement(Warp &w, const WgmmaOperation &first,
                    const WgmmaOperation &here) {
  const char *what = nullptr;
  if (first.pc != here.pc)
    return refuse(
        w, "wgmma",
        "the warps of warpgroup " + std::to_string(w.index / 4) +
            " stand at different instructions; another is at line " +
            std::to_string(
                w.cta->launch.kernel.info.instructions[first.pc].line));
  if (!(first.a == here.a))
    what = "a-desc";
  else if (!(first.b == here.b))
    what = "b-desc";
  else if (first.accumulates != here.accumulates)
    what = "scale-d";
  if (!what)
    return true;
  return refuse(w, "wgmma",
                std::string(what) + " differs among the warps of warpgroup " +
                    std::to_string(w.index / 4));
}

/// The first warp of its group at an instruction.
bool open(Warp &w, WgmmaState &state, WgmmaState::Warpgroup &group,
          WgmmaOperation op) {
  if (op.firstWarp + 4 > w.cta->warps.size())
    return refuse(w, "wgmma",
                  "warps " + std::to_string(op.firstWarp) + " to " +
                      std::to_string(w.cta->warps.size() - 1) +
                      " of the CTA are no whole warpgroup of four");
  if (!op.form.aInRegisters && !checkBounds(w, op.a, 64, op.form.transA, "A"))
    return false;
  if (!checkBounds(w, op.b, op.form.n, op.form.transB, "B"))
    return false;
  op.id = state.operations++;
  group.operation = std::make_shared<WgmmaOperation>(std::move(op));
  return true;
}

/// All four are here: the others go on behind the instruction.
void release(CTA &cta, const WgmmaOperation &op) {
  for (uint32_t n = op.firstWarp; n < op.firstWarp + 4; ++n)
    for (Group &g : cta.warps[n].others)
      if (g.state == Group::AtWarpgroup) {
        g.state = Group::Ready;
        g.released = true;
      }
}

std::vector<ByteRange> footprint(const WgmmaMatrix &m, uint32_t rows,
                                 bool isMNMajor) {
  std::vector<uint32_t> chunks = wgmmaChunks(m, rows, isMNMajor);
  std::sort(chunks.begin(), chunks.end());
  std::vector<ByteRange> ranges;
  for (uint32_t c : chunks)
    if (!ranges.empty() && c <= ranges.back().end)
      ranges.back().end = c + 16;
    else
      ranges.push_back({c, c + 16});
  return ranges;
}

/// Loops multiply the same tiles again and again.
const std::vector<ByteRange> &knownFootprint(WgmmaState &state,
                                             const WgmmaMatrix &m,
                                             uint32_t rows, bool isMNMajor) {
  WgmmaState::FootprintKey key{m.start, m.leading, m.stride,
                               m.span,  rows,      isMNMajor};
  if (state.footprints.size() > 1024)
    state.footprints.clear();
  auto [at, isNew] = state.footprints.try_emplace(key);
  if (isNew)
    at->second = footprint(m, rows, isMNMajor);
  return at->second;
}

void notifyIssued(CTA &cta, WgmmaState &state, WgmmaOperation &op) {
  if (cta.onWgmma.empty())
    return;
  if (!op.form.aInRegisters)
    op.aShared = knownFootprint(state, op.a, 64, op.form.transA);
  op.bShared = knownFootprint(state, op.b, op.form.n, op.form.transB);
  WgmmaEvent event = op.event(cta);
  for (CTAObserver *o : cta.onWgmma)
    o->wgmmaIssued(event);
}

WgmmaGroupEvent groupEvent(const Warp &w, uint32_t pending) {
  return {w.index, 1, w.pc, pending};
}

/// Under --order=random a warp's products may also end before their wait.
bool completesAtOnce(CTA &cta) {
  Cluster &cluster = *cta.cluster;
  return !cta.launch.options.lateCompletion ||
         (cluster.isRandom() && cluster.random() % 3 == 0);
}

Flow multiply(Warp &w, const Instruction &i) {
  if (w.released) {
    w.released = false;
    return Flow::Next;
  }
  CTA &cta = *w.cta;
  WgmmaState &state = stateOf(cta);
  state.widened = nullptr;
  WgmmaState::Warpgroup &group = state.groups[w.index / 4];
  WgmmaOperation here;
  if (!needsWholeWarp(w) || !readOperands(w, i, here))
    return Flow::Stop;
  bool fits = group.arrived ? checkAgreement(w, *group.operation, here)
                            : open(w, state, group, here);
  if (!fits)
    return Flow::Stop;
  state.warps[w.index].push(w, i, group.operation);
  group.arrived |= 1u << w.index % 4;
  if (group.arrived != 15)
    return parkActive(w, Group::AtWarpgroup, 0, 0);
  release(cta, *group.operation);
  notifyIssued(cta, state, *group.operation);
  for (uint32_t n = here.firstWarp; n < here.firstWarp + 4; ++n)
    if (completesAtOnce(cta))
      state.warps[n].completeAll(cta.warps[n]);
  group.arrived = 0;
  group.operation.reset();
  return Flow::Next;
}

Flow fence(Warp &w, const Instruction &) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  for (CTAObserver *o : w.cta->onWgmma)
    o->wgmmaFence(groupEvent(w, 0));
  return Flow::Next;
}

Flow commit(Warp &w, const Instruction &) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  stateOf(*w.cta).warps[w.index].commit();
  for (CTAObserver *o : w.cta->onWgmma)
    o->wgmmaCommitted(groupEvent(w, 0));
  return Flow::Next;
}

Flow wait(Warp &w, const Instruction &i) {
  if (!needsWholeWarp(w))
    return Flow::Stop;
  uint32_t pending = uint32_t(i.imm);
  WgmmaState &state = stateOf(*w.cta);
  state.widened = nullptr;
  state.warps[w.index].wait(w, pending);
  for (CTAObserver *o : w.cta->onWgmma)
    o->wgmmaWaited(groupEvent(w, pending));
  return Flow::Next;
}
} // namespace

WgmmaEvent WgmmaOperation::event(const CTA &cta) const {
  const InstructionInfo &info = cta.launch.kernel.info.instructions[pc];
  WgmmaEvent e{};
  e.id = id;
  e.firstWarp = firstWarp;
  e.pc = pc;
  e.n = uint16_t(form.n);
  e.k = uint16_t(form.k());
  e.accumulators = info.writes;
  e.accumulates = accumulates;
  // A's registers are the first sources, behind the guard; constants are none.
  const Kernel &kernel = cta.launch.kernel;
  size_t count = 0;
  if (form.aInRegisters)
    for (unsigned r = 0; r < 4; ++r)
      count += kernel.lists[kernel.code[pc].list + form.accumulators() + r] <
               kernel.registerWords;
  e.aRegisters = std::span(info.reads).subspan(info.guard >= 0, count);
  e.aShared = aShared;
  e.bShared = bShared;
  return e;
}

std::string ptxvm::describeWgmmaWait(const Warp &w) {
  std::string missing;
  uint32_t arrived = w.cta->wgmma->groups[w.index / 4].arrived;
  for (uint32_t n = 0; n < 4; ++n)
    if (!(arrived >> n & 1))
      missing +=
          (missing.empty() ? "" : ", ") + std::to_string(w.index / 4 * 4 + n);
  return "for warps " + missing + " of its warpgroup";
}

void ptxvm::addWgmma(HandlerList &list) {
  list.push_back({"wgmma_mma", multiply});
  list.push_back({"wgmma_fence", fence});
  list.push_back({"wgmma_commit", commit});
  list.push_back({"wgmma_wait", wait});
}
