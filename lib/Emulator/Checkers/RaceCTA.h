//===- RaceCTA.h - a CTA as the race checker sees it ------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns events into accesses and order. Race.cpp has those of ordinary memory
// and barriers, RaceAsync.cpp those of mbarriers, bulk copies, wgmma and
// clusters.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_RACECTA_H
#define FA_LIB_EMULATOR_CHECKERS_RACECTA_H

#include "ClusterState.h"
#include "Findings.h"
#include "RaceState.h"

#include <optional>

namespace ptxvm {

class RaceCTA : public CheckerCTA {
public:
  RaceCTA(const CTAEvent &event, std::string_view checker,
          const std::vector<char> &isWarpBarrier, bool wantsEqual,
          std::shared_ptr<RaceState> state)
      : CheckerCTA(event, checker), s(std::move(state)),
        rank(event.clusterRank), size(event.threads), wantsEqual(wantsEqual),
        isWarpBarrier(isWarpBarrier), meetings(event.warps),
        exited(event.warps, 0), arrivedOnly(event.warps),
        openGroup(event.warps, 0) {}

  // Race.cpp
  void memoryAccess(const AccessEvent &e) override;
  void asyncCopyIssued(const AsyncCopyEvent &e) override;
  void barrierArrived(const BarrierEvent &e) override;
  void barrierCompleted(const BarrierEvent &e) override;
  void instructionIssued(const IssueEvent &e) override;
  void warpSynchronised(uint32_t warp, uint32_t pc, uint32_t mask,
                        bool ordersMemory) override;
  void fence(const FenceEvent &e) override;
  void lanesExited(uint32_t warp, uint32_t pc, uint32_t mask) override;

  // RaceAsync.cpp
  void mbarrier(const MbarrierEvent &e) override;
  void clusterBarrier(const ClusterBarrierEvent &e) override;
  void bulkCopyIssued(const BulkCopyEvent &e) override;
  void bulkCopyRead(const BulkCopyEvent &e) override;
  void bulkCopyCompleted(const BulkCopyEvent &e) override;
  void wgmmaIssued(const WgmmaEvent &e) override;
  void wgmmaCommitted(const WgmmaGroupEvent &e) override;
  void wgmmaWaited(const WgmmaGroupEvent &e) override;
  void wgmmaCompleted(const WgmmaEvent &e) override;

private:
  uint32_t thread(uint32_t warp, unsigned lane) const {
    return s->firstThread(rank) + warp * 32 + lane;
  }
  std::vector<uint32_t> threads(uint32_t warp, uint32_t mask) const;
  void append(std::vector<uint32_t> &list, uint32_t warp, uint32_t mask) const;

  void synchronise(const AccessEvent &e, uint32_t who, uint64_t at);
  void found(const RaceAccessor &who, const RaceFinding &finding,
             bool isEqual = false);
  /// Does the lane write the bytes that the other wrote?
  bool writesEqual(const AccessEvent &e, unsigned lane,
                   const RaceFinding &finding) const;
  std::string whoText(uint32_t thread) const;

  /// An access to the memory of another CTA.
  void reachOut(const AccessEvent &e);
  /// This CTA ends, and others have reached into its memory.
  void leave(uint32_t warp, uint32_t pc);
  void useMbarrier(const MbarrierEvent &e);
  template <typename Visit>
  void forDestinations(const BulkCopyEvent &e, Visit visit);

  /// Lanes that have come to bar.warp.sync and are not told to go on.
  struct WarpMeeting {
    uint32_t waiting = 0;
    Knowledge arrived;
  };

  std::shared_ptr<RaceState> s;
  uint32_t rank, size; ///< in the cluster; threads of the CTA
  bool wantsEqual;     ///< reports equal writes, and nothing else
  const std::vector<char> &isWarpBarrier; ///< by pc
  std::vector<WarpMeeting> meetings;      ///< by warp
  std::vector<uint32_t> exited;           ///< lanes, by warp
  std::vector<std::array<uint32_t, 16>> arrivedOnly;
  std::array<Knowledge, 16> arrivals;
  /// What a st.async has just written, until its mbarrier is told.
  struct StoreAsync {
    RaceAccessor who;
    uint32_t rank;
    uint64_t at, bytes;
  };
  std::optional<StoreAsync> stored;
  std::vector<uint32_t> openGroup;      ///< of wgmmas, by warp
  std::map<uint64_t, uint32_t> groupOf; ///< by the id of a wgmma
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_RACECTA_H
