//===- WgmmaQueue.cpp - a warp's pending products -------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Completion is as late as the waits allow, so a kernel that reads an
// accumulator too early reads a NaN, one that overwrites shared memory too
// early multiplies what it wrote, and one that writes A's registers too early
// multiplies that.
//
//===----------------------------------------------------------------------===//
#include "Wgmma.h"

#include <algorithm>

using namespace ptxvm;

static const WgmmaFunctions &functions() {
  static const WgmmaFunctions &kChosen = []() -> const WgmmaFunctions & {
    std::string variant = handlerVariant();
#ifdef FA_HAS_avx512
    if (variant == "avx512")
      return avx512::kWgmmaFunctions;
#endif
#ifdef FA_HAS_avx2
    if (variant == "avx2")
      return avx2::kWgmmaFunctions;
#endif
    return baseline::kWgmmaFunctions;
  }();
  return kChosen;
}

bool WgmmaAccumulator::isOf(const WgmmaForm &f,
                            const uint32_t *registers) const {
  return form.n == f.n && form.accumulator == f.accumulator &&
         std::equal(slots, slots + f.accumulators(), registers);
}

WgmmaAccumulator &WgmmaQueue::accumulatorOf(Warp &w, const WgmmaOperation &op,
                                            const uint32_t *slots) {
  for (auto &known : accumulators)
    if (known->isOf(op.form, slots))
      return *known;
  uint32_t count = op.form.accumulators();
  auto isTaken = [this](uint32_t slot) { return isPending(slot); };
  // Registers shared with a product of another shape, which is older: its
  // result comes first.
  while (!shares.empty() && std::any_of(slots, slots + count, isTaken))
    completeFront(w);
  if (spare.empty()) {
    spare.push_back(std::make_unique<WgmmaAccumulator>());
    spare.back()->tile = std::make_unique<WgmmaTile>();
  }
  accumulators.push_back(std::move(spare.back()));
  spare.pop_back();
  WgmmaAccumulator &fresh = *accumulators.back();
  fresh.form = op.form;
  fresh.slots = slots;
  fresh.pending = 0;
  if (op.accumulates)
    functions().load(op.form, w.regs, slots, *fresh.tile);
  pendingSlots.resize(w.cta->launch.kernel.totalWords / 32);
  for (const uint32_t *slot = slots; slot != slots + count; ++slot) {
    pendingSlots[*slot / 32] = true;
    std::fill_n(w.regs + *slot, 32, kPendingRegister);
  }
  return fresh;
}

void WgmmaQueue::push(Warp &w, const Instruction &i,
                      std::shared_ptr<WgmmaOperation> operation) {
  const WgmmaForm &form = operation->form;
  const uint32_t *slots = w.lists + i.list;
  WgmmaPending share;
  unwaited.push_back({operation, openGroup});
  if (form.aInRegisters)
    for (unsigned r = 0; r < 4; ++r) {
      uint32_t slot = slots[form.accumulators() + r];
      share.readsPending |= isPending(slot);
      std::copy_n(w.regs + slot, 32, share.a[r].begin());
    }
  share.accumulator = &accumulatorOf(w, *operation, slots);
  ++share.accumulator->pending;
  share.operation = std::move(operation);
  shares.push_back(std::move(share));
}

/// Gives an accumulator back to its registers.
void WgmmaQueue::retire(Warp &w, WgmmaAccumulator &accumulator) {
  const WgmmaForm &form = accumulator.form;
  functions().store(form, *accumulator.tile, w.regs, accumulator.slots);
  for (uint32_t n = 0; n < form.accumulators(); ++n)
    pendingSlots[accumulator.slots[n] / 32] = false;
  auto at =
      std::find_if(accumulators.begin(), accumulators.end(),
                   [&](const auto &own) { return own.get() == &accumulator; });
  spare.push_back(std::move(*at));
  accumulators.erase(at);
}

void WgmmaQueue::multiply(Warp &w, WgmmaPending &share) {
  if (share.isMultiplied)
    return;
  share.isMultiplied = true;
  WgmmaOperation &op = *share.operation;
  WgmmaAccumulator &accumulator = *share.accumulator;
  const Instruction &i = w.cta->launch.code[op.pc];
  const uint32_t *slots = w.lists + i.list;
  uint32_t count = op.form.accumulators();
  // A register that was written meanwhile gives its new value.
  if (op.form.aInRegisters && !share.readsPending)
    for (unsigned r = 0; r < 4; ++r)
      std::copy_n(w.regs + slots[count + r], 32, share.a[r].begin());
  alignas(64) uint32_t a[4][32];
  std::memcpy(a, share.a.data(), sizeof(a));
  WgmmaShare input{op.form,
                   w.cta->shared.data(),
                   op.a,
                   op.b,
                   (w.index - op.firstWarp) * 16,
                   a,
                   op.accumulates,
                   w.cta->launch.options.tensorModel,
                   w.cta->wgmma->widened == &op};
  functions().multiply(input, *accumulator.tile);
  w.cta->wgmma->widened = &op;
  bool isLast = --op.remaining == 0;
  if (isLast && !w.cta->onWgmma.empty()) {
    WgmmaEvent event = op.event(*w.cta);
    for (CTAObserver *o : w.cta->onWgmma)
      o->wgmmaCompleted(event);
  }
}

void WgmmaQueue::completeFront(Warp &w) {
  WgmmaPending &share = shares.front();
  multiply(w, share);
  if (--share.accumulator->pending == 0)
    retire(w, *share.accumulator);
  shares.pop_front();
}

void WgmmaQueue::readThrough(Warp &w, uint64_t id) {
  for (WgmmaPending &share : shares) {
    if (share.operation->id > id)
      break;
    multiply(w, share);
  }
}

void WgmmaQueue::wait(Warp &w, uint32_t pending) {
  while (!unwaited.empty() &&
         uint64_t(unwaited.front().group) + pending < openGroup) {
    std::shared_ptr<WgmmaOperation> op = std::move(unwaited.front().operation);
    unwaited.pop_front();
    while (!shares.empty() && shares.front().operation->id <= op->id)
      completeFront(w);
    CTA &cta = *w.cta;
    for (uint32_t n = op->firstWarp; n < op->firstWarp + 4; ++n)
      if (n != w.index)
        cta.wgmma->warps[n].readThrough(cta.warps[n], op->id);
  }
}
