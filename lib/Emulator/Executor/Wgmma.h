//===- Wgmma.h - pending warpgroup products ---------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The warps of a warpgroup meet at a wgmma.mma_async; then each has a share of
// it in its own queue, which its own waits complete, in order:
//
//   warp 0: [op 0, group 0] [op 1, group 0] [op 2, group 1]
//   warp 1:                 [op 1, group 0] [op 2, group 1]    has waited more
//
// A share reads shared memory when it completes. Its accumulator leaves the
// registers, which hold a NaN meanwhile, for a tile that products of the same
// registers share, and comes back when the last of them completes.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_EXECUTOR_WGMMA_H
#define FA_LIB_EMULATOR_EXECUTOR_WGMMA_H

#include "Machine.h"
#include "WgmmaShare.h"

#include <deque>
#include <map>

namespace ptxvm {

/// What registers hold while their value is on its way: a NaN as f32, and
/// twice as f16 or bf16.
inline constexpr uint32_t kPendingRegister = 0x7FED7FED;

/// One wgmma.mma_async of a warpgroup.
struct WgmmaOperation {
  uint64_t id = 0; ///< counts those of the CTA
  uint32_t pc = 0;
  uint32_t firstWarp = 0;
  WgmmaForm form;
  WgmmaMatrix a, b;
  bool accumulates = false;
  unsigned remaining = 4; ///< shares
  /// What it reads, for observers; empty when there are none.
  std::vector<ByteRange> aShared, bShared;

  WgmmaEvent event(const CTA &cta) const;
};

/// An accumulator that has left its registers.
struct WgmmaAccumulator {
  WgmmaForm form;
  const uint32_t *slots = nullptr;
  unsigned pending = 0; ///< shares that will add to it
  std::unique_ptr<WgmmaTile> tile;

  bool isOf(const WgmmaForm &f, const uint32_t *registers) const;
};

struct WgmmaPending {
  std::shared_ptr<WgmmaOperation> operation;
  WgmmaAccumulator *accumulator = nullptr;
  /// A as it was when the instruction was issued.
  std::array<std::array<uint32_t, 32>, 4> a;
  bool readsPending = false; ///< A was an accumulator on its way
  bool isMultiplied = false; ///< the operands have been read
};

class WgmmaQueue {
public:
  void push(Warp &w, const Instruction &i,
            std::shared_ptr<WgmmaOperation> operation);
  /// Completes the oldest share.
  void completeFront(Warp &w);
  void completeAll(Warp &w) {
    while (!shares.empty())
      completeFront(w);
  }
  /// Completes groups until `pending` are left. The four warps made one
  /// operation: when it is over for one of them, its operands in shared memory
  /// may be written again, so the others read them too, even where the share of
  /// this one has completed before; their registers wait for their own waits.
  void wait(Warp &w, uint32_t pending);
  void commit() { ++openGroup; }

private:
  void multiply(Warp &w, WgmmaPending &share);
  void readThrough(Warp &w, uint64_t id);
  void retire(Warp &w, WgmmaAccumulator &accumulator);
  WgmmaAccumulator &accumulatorOf(Warp &w, const WgmmaOperation &operation,
                                  const uint32_t *slots);
  bool isPending(uint32_t slot) const {
    return slot / 32 < pendingSlots.size() && pendingSlots[slot / 32];
  }

  /// An operation that this warp has not waited for, whose share may have
  /// completed.
  struct Unwaited {
    std::shared_ptr<WgmmaOperation> operation;
    uint32_t group;
  };

  std::deque<WgmmaPending> shares;
  std::deque<Unwaited> unwaited;
  uint32_t openGroup = 0;
  std::vector<std::unique_ptr<WgmmaAccumulator>> accumulators, spare;
  std::vector<bool> pendingSlots; ///< registers that hold kPendingRegister
};

/// Everything about wgmma in one CTA.
struct WgmmaState {
  struct Warpgroup {
    uint32_t arrived = 0; ///< bits of the warps that stand at `operation`
    std::shared_ptr<WgmmaOperation> operation;
  };
  std::vector<Warpgroup> groups;
  std::vector<WgmmaQueue> warps;
  uint64_t operations = 0;
  /// Whose B the host thread has at hand; for one instruction, since the next
  /// one may write to memory.
  const WgmmaOperation *widened = nullptr;
  /// What matrices cover, for observers.
  using FootprintKey = std::array<uint32_t, 6>;
  std::map<FootprintKey, std::vector<ByteRange>> footprints;
};

/// For a deadlock report: who is missing at the wgmma where `w` waits.
std::string describeWgmmaWait(const Warp &w);

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_EXECUTOR_WGMMA_H
