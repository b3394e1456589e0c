//===- ProxyFence.cpp - generic writes that the async proxy cannot see ----===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 8.10: what st, stmatrix or cp.async write to shared
// memory reaches wgmma and bulk copies only through fence.proxy.async, however
// well barriers order the two. The fence lies between the write and the
// asynchronous operation: in the thread that wrote, in the one that issues, or
// in a third one that a barrier joins to both.
//
//   st.shared ---> fence.proxy.async ---> bar.sync ---> wgmma
//   st.shared ---> bar.sync ---> fence.proxy.async ---> cp.async.bulk
//
// Each 16 bytes know their last generic write. Whether the threads are ordered
// at all is the race checker's business. An mbarrier is made by a generic
// write, too; for it fence.mbarrier_init does as well.
//
//===----------------------------------------------------------------------===//
#include "ClusterState.h"
#include "Findings.h"

using namespace ptxvm;

namespace {
struct Write {
  uint64_t time = 0; ///< 0 = none, or fenced
  uint32_t pc = 0;
  uint32_t thread = 0; ///< of the cluster
};

/// The order of events is that of a whole cluster.
struct ProxyState {
  explicit ProxyState(const CTAEvent &e)
      : perCTA(e.warps * 32), fenced(size_t(perCTA) * e.clusterSize),
        synced(fenced.size()), writes(e.clusterSize), inits(e.clusterSize) {
    for (auto &w : writes)
      w.resize(e.sharedBytes / 16 + 2);
  }

  uint32_t perCTA; ///< threads, exited and missing ones too
  uint64_t now = 0;
  std::vector<uint64_t> fenced; ///< last fence, by thread
  std::vector<uint64_t> synced; ///< last barrier passed, by thread
  /// Everything up to this time has been fenced by a thread that had passed a
  /// barrier since.
  uint64_t fencedForAll = 0;
  std::vector<std::vector<Write>> writes;       ///< by rank and 16 bytes
  std::vector<std::map<uint32_t, Write>> inits; ///< by rank and address
};

class ProxyCTA : public CheckerCTA {
public:
  ProxyCTA(const CTAEvent &event, std::string_view checker,
           std::shared_ptr<ProxyState> state)
      : CheckerCTA(event, checker),
        base(event.clusterRank * (event.warps * 32)), rank(event.clusterRank),
        state(std::move(state)) {}

  void memoryAccess(const AccessEvent &e) override {
    bool isWrite = e.kind != AccessKind::Load &&
                   e.kind != AccessKind::MatrixLoad &&
                   e.kind != AccessKind::AsyncRead;
    if (!isWrite || e.space != Space::Shared)
      return;
    ++state->now;
    std::vector<Write> &writes = state->writes[e.ownerRank];
    bool isAsync = e.proxy == Proxy::Async;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned l = unsigned(__builtin_ctz(m));
      uint64_t end = e.addresses[l] + e.bytes;
      for (uint64_t k = e.addresses[l] / 16; k * 16 < end; ++k)
        writes[k] =
            isAsync ? Write{} : Write{state->now, e.pc, thread(e.warp, l)};
    }
  }

  void fence(const FenceEvent &e) override {
    bool isInit = e.proxy == FenceEvent::MbarrierInit;
    if (isInit)
      return fenceInits(e);
    if (e.proxy != FenceEvent::Async && e.proxy != FenceEvent::AsyncShared)
      return;
    ++state->now;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      uint32_t t = thread(e.warp, unsigned(__builtin_ctz(m)));
      state->fenced[t] = state->now;
      state->fencedForAll = std::max(state->fencedForAll, state->synced[t]);
    }
  }

  void barrierCompleted(const BarrierEvent &e) override {
    ++state->now;
    for (uint32_t w = 0; w < e.participants->size(); ++w)
      synchronised(w, (*e.participants)[w]);
  }
  void clusterBarrier(const ClusterBarrierEvent &e) override {
    if (e.kind != ClusterBarrierEvent::Wait)
      return;
    ++state->now;
    synchronised(e.warp, e.mask);
  }

  void mbarrier(const MbarrierEvent &e) override {
    auto &inits = state->inits[e.ownerRank];
    if (e.kind == MbarrierEvent::Init)
      inits[e.address] = {++state->now, e.pc,
                          thread(e.warp, unsigned(__builtin_ctz(e.mask)))};
    else if (e.kind == MbarrierEvent::Invalidate)
      inits.erase(e.address);
  }

  void bulkCopyIssued(const BulkCopyEvent &e) override {
    uint32_t issuer = thread(e.warp, e.lane);
    if (e.direction == BulkCopyEvent::SharedToGlobal)
      read(e.pc, e.warp, int(e.lane), {&issuer, 1}, e.sharedAddress,
           e.sharedAddress + e.bytes, "reads");
    if (e.direction == BulkCopyEvent::SharedToShared)
      read(e.pc, e.warp, int(e.lane), {&issuer, 1}, e.sourceAddress,
           e.sourceAddress + e.bytes, "reads");
    if (e.hasMbarrier)
      useMbarrier(e, issuer);
  }

  void wgmmaIssued(const WgmmaEvent &e) override {
    uint32_t issuers[4];
    for (uint32_t w = 0; w < 4; ++w)
      issuers[w] = thread(e.firstWarp + w, 0);
    for (const auto &ranges : {e.aShared, e.bShared})
      for (ByteRange r : ranges)
        read(e.pc, e.firstWarp, -1, issuers, r.begin, r.end, "reads");
  }

private:
  uint32_t thread(uint32_t warp, unsigned lane) const {
    return base + warp * 32 + lane;
  }
  void synchronised(uint32_t warp, uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1)
      state->synced[thread(warp, unsigned(__builtin_ctz(m)))] = state->now;
  }

  bool isFenced(const Write &w, std::span<const uint32_t> issuers) const {
    if (w.time <= state->fencedForAll || state->fenced[w.thread] > w.time)
      return true;
    bool byAll = true;
    for (uint32_t t : issuers)
      byAll &= state->fenced[t] > w.time;
    return byAll;
  }

  void read(uint32_t pc, uint32_t warp, int lane,
            std::span<const uint32_t> issuers, uint64_t begin, uint64_t end,
            const char *verb) {
    std::vector<Write> &writes = state->writes[rank];
    for (uint64_t k = begin / 16; k * 16 < end && k < writes.size(); ++k) {
      Write &w = writes[k];
      if (!w.time) [[likely]]
        continue;
      if (!isFenced(w, issuers))
        report(pc, warp, lane,
               opcode(pc) + " " + verb + " shared memory at byte " +
                   std::to_string(std::max(begin, k * 16)) +
                   " through the async proxy, which " + instruction(w.pc) +
                   whoText(w.thread) +
                   " wrote through the generic proxy, and no "
                   "fence.proxy.async lies between");
      w = {};
    }
  }

  void useMbarrier(const BulkCopyEvent &e, uint32_t issuer) {
    auto &inits = state->inits[e.mbarrierRank];
    auto at = inits.find(e.mbarrierAddress);
    if (at == inits.end())
      return;
    if (!isFenced(at->second, {&issuer, 1}))
      report(e.pc, e.warp, int(e.lane),
             opcode(e.pc) + " signals the mbarrier at byte " +
                 std::to_string(e.mbarrierAddress) + ", which " +
                 instruction(at->second.pc) + whoText(at->second.thread) +
                 " made, and neither fence.mbarrier_init nor "
                 "fence.proxy.async lies between");
    inits.erase(at);
  }

  void fenceInits(const FenceEvent &e) {
    for (auto &inits : state->inits)
      std::erase_if(inits, [&](const auto &entry) {
        uint32_t t = entry.second.thread;
        return t / 32 == thread(e.warp, 0) / 32 && (e.mask >> t % 32 & 1);
      });
  }

  std::string whoText(uint32_t thread) const {
    uint32_t local = thread % state->perCTA;
    return " (warp " + std::to_string(local / 32) + ", lane " +
           std::to_string(local % 32) + ")";
  }

  uint32_t base, rank;
  std::shared_ptr<ProxyState> state;
};

class ProxyChecker : public Checker {
public:
  std::string_view name() const override { return "proxy-fence"; }
  uint32_t interests() const override {
    return kMemory | kAsyncCopies | kBarriers | kWgmma;
  }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    usesAsyncProxy = false;
    for (const InstructionInfo &i : event.code.instructions)
      usesAsyncProxy |= i.mnemonic == "wgmma" ||
                        i.opcode.starts_with("cp.async.bulk") ||
                        i.opcode.starts_with("cp.reduce.async.bulk");
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    if (!usesAsyncProxy)
      return nullptr;
    return std::make_unique<ProxyCTA>(event, name(), states.of(event));
  }
  void kernelEnd(Report &report) override {
    Checker::kernelEnd(report);
    states.clear();
  }

private:
  bool usesAsyncProxy = false;
  ClusterStates<ProxyState> states;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeProxyFenceChecker() {
  return std::make_unique<ProxyChecker>();
}
