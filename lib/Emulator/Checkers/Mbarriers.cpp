//===- Mbarriers.cpp - mbarrier objects used wrongly ----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 section 9.7.13.15. What is watched of each object:
//
//   init    not over another mbarrier that is still in use
//   arrive  not more often than the phase waits for, and not for a phase after
//           one that nobody has seen complete
//   bytes   as many come as are expected; seen when the CTA ends or hangs
//   wait    for the phase in progress or the one before it: a parity says
//           nothing of older ones; the answer is looked at, for try_wait may
//           say "not yet" as well as test_wait
//   ld, st  not on its 8 bytes
//
//===----------------------------------------------------------------------===//
#include "ClusterState.h"
#include "Findings.h"

#include <algorithm>

using namespace ptxvm;

namespace {
constexpr uint64_t kNoPhase = ~0ull;

struct Object {
  uint32_t initPc = 0, initWarp = 0;
  uint32_t lastPc = 0, lastWarp = 0; ///< that changed it
  uint32_t pending = 0;
  int64_t bytes = 0;
  uint64_t phase = 0;
  uint64_t seen = kNoPhase; ///< last phase that a wait saw complete
  /// The phases of waits that were told "not yet", by CTA and thread.
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> awaited;
};

/// All of a cluster, by rank and address.
struct Objects {
  explicit Objects(const CTAEvent &) {}
  std::map<std::pair<uint32_t, uint32_t>, Object> table;
};

class MbarrierCTA : public CheckerCTA {
public:
  MbarrierCTA(const CTAEvent &event, std::string_view checker,
              std::shared_ptr<Objects> objects,
              const std::vector<int32_t> &answers)
      : CheckerCTA(event, checker), cta(event.linear), rank(event.clusterRank),
        isClustered(event.clusterSize > 1), objects(std::move(objects)),
        answers(answers), unread(event.warps) {}

  // An answer that is overwritten, or left, unread.
  void instructionIssued(const IssueEvent &e) override {
    std::vector<Answer> &open = unread[e.warp];
    if (!open.empty()) [[unlikely]] {
      const InstructionInfo &i = code.instructions[e.pc];
      for (Answer &a : open) {
        if (contains(i.reads, a.predicate))
          a.mask &= ~e.group;
        if (contains(i.writes, a.predicate))
          lose(a, e.warp, e.active);
      }
      std::erase_if(open, [](const Answer &a) { return !a.mask; });
    }
    if (int32_t p = answers[e.pc]; p >= 0 && e.active)
      open.push_back({uint32_t(p), e.pc, e.active});
  }
  void lanesExited(uint32_t warp, uint32_t, uint32_t mask) override {
    for (Answer &a : unread[warp])
      lose(a, warp, mask);
  }

  void mbarrier(const MbarrierEvent &e) override {
    auto key = std::pair(e.ownerRank, e.address);
    auto at = objects->table.find(key);
    bool isKnown = at != objects->table.end();
    if (e.kind == MbarrierEvent::Init) {
      if (isKnown)
        reportAt(e, " makes an mbarrier " + place(e) +
                        " where one is in use, from " +
                        instruction(at->second.initPc) +
                        "; mbarrier.inval ends that");
      Object &o = objects->table[key] = {};
      o.initPc = e.pc;
      o.initWarp = e.warp;
      return follow(o, e);
    }
    if (!isKnown || !e.isValid)
      return reportAt(e, " uses shared memory " + place(e) +
                             ", which holds no mbarrier: there was no "
                             "mbarrier.init, or mbarrier.inval ended it");
    Object &o = at->second;
    switch (e.kind) {
    case MbarrierEvent::Invalidate:
      objects->table.erase(at);
      return;
    case MbarrierEvent::TestWait:
      return wait(o, e);
    case MbarrierEvent::Arrive:
    case MbarrierEvent::ArriveDrop:
      arrive(o, e);
      break;
    case MbarrierEvent::ExpectTx:
    case MbarrierEvent::CompleteTx:
      transfer(e);
      break;
    default:
      break;
    }
    follow(o, e);
  }

  void memoryAccess(const AccessEvent &e) override {
    if (objects->table.empty() || e.space != Space::Shared)
      return;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      unsigned lane = unsigned(__builtin_ctz(m));
      uint64_t begin = e.addresses[lane];
      auto next = objects->table.lower_bound(
          {e.ownerRank, uint32_t(begin < 7 ? 0 : begin - 7)});
      bool touches = next != objects->table.end() &&
                     next->first.first == e.ownerRank &&
                     next->first.second < begin + e.bytes;
      if (!touches) [[likely]]
        continue;
      report(e.pc, e.warp, int(lane),
             opcode(e.pc) + " touches shared memory at byte " +
                 std::to_string(next->first.second) +
                 ", which is an mbarrier since " +
                 instruction(next->second.initPc));
      return;
    }
  }

  void atEnd() {
    for (const auto &[key, o] : objects->table) {
      if (key.first != rank || !o.bytes)
        continue;
      bool isShort = o.bytes > 0;
      report(o.lastPc, o.lastWarp, -1,
             "the mbarrier at byte " + std::to_string(key.second) +
                 " is left in phase " + std::to_string(o.phase) + " with " +
                 bytesText(uint64_t(isShort ? o.bytes : -o.bytes)) +
                 (isShort ? " that were expected and have not come"
                          : " that came and were not expected"));
    }
  }

private:
  /// Of a test_wait or try_wait, in a predicate register.
  struct Answer {
    uint32_t predicate, pc, mask;
  };
  static bool contains(const std::vector<uint32_t> &list, uint32_t r) {
    return std::find(list.begin(), list.end(), r) != list.end();
  }
  void lose(Answer &a, uint32_t warp, uint32_t lanes) {
    lanes &= a.mask;
    a.mask &= ~lanes;
    if (!lanes)
      return;
    report(a.pc, warp, __builtin_ctz(lanes),
           opcode(a.pc) + " answers in " + code.registerNames[a.predicate] +
               ", and nobody looks at it: the phase may not be complete");
  }

  static void follow(Object &o, const MbarrierEvent &e) {
    o.pending = e.pendingCount;
    o.bytes = e.txCount;
    o.phase = e.phase;
    if (e.kind == MbarrierEvent::PhaseComplete)
      return;
    o.lastPc = e.pc;
    o.lastWarp = e.warp;
  }

  void arrive(const Object &o, const MbarrierEvent &e) {
    if (e.count > o.pending)
      return reportAt(e, " arrives " + times(e.count) + " at the mbarrier " +
                             place(e) + ", whose phase " +
                             std::to_string(o.phase) + " waits for " +
                             std::to_string(o.pending) + " more");
    bool isSeen = o.phase == 0 || (o.seen != kNoPhase && o.seen + 1 >= o.phase);
    if (!isSeen)
      reportAt(e, " arrives at the mbarrier " + place(e) + " for phase " +
                      std::to_string(o.phase) + ", and nobody has seen phase " +
                      std::to_string(o.phase - 1) +
                      " complete: it counts too few arrivals, or a wait is "
                      "missing");
  }

  void transfer(const MbarrierEvent &e) {
    constexpr int64_t kMost = (1 << 20) - 1;
    if (e.txCount > kMost || e.txCount < -kMost)
      reportAt(e, " takes the byte count of the mbarrier " + place(e) + " to " +
                      std::to_string(e.txCount) + "; it holds " +
                      std::to_string(kMost) + " at most");
  }

  void wait(Object &o, const MbarrierEvent &e) {
    if (!e.byParity && e.waitPhase + 1 < o.phase)
      reportAt(e, " waits for phase " + std::to_string(e.waitPhase) + late(o));
    bool isOld = false;
    for (uint32_t m = e.mask; m; m &= m - 1) {
      uint32_t thread = e.warp * 32 + unsigned(__builtin_ctz(m));
      auto at = o.awaited.find({cta, thread});
      bool isAgain = at != o.awaited.end() && (at->second & 1) == e.parity;
      // It asks again for a phase that has been followed by another since.
      isOld |= e.byParity && isAgain && at->second + 1 < o.phase;
      if (e.succeeded && at != o.awaited.end())
        o.awaited.erase(at);
      else if (!e.succeeded)
        o.awaited[{cta, thread}] = e.waitPhase;
    }
    if (isOld)
      reportAt(e, " waits for parity " + std::to_string(e.parity) +
                      " of the mbarrier " + place(e) +
                      " and has missed the phase it meant" + late(o));
    // A parity that is true on a fresh object sees no phase.
    bool isReal = e.succeeded && o.phase > 0 && e.waitPhase < o.phase;
    if (isReal && (o.seen == kNoPhase || o.seen < e.waitPhase))
      o.seen = e.waitPhase;
  }

  static std::string late(const Object &o) {
    return ", but phase " + std::to_string(o.phase) +
           " is in progress; a wait tells only the phase before that one";
  }
  static std::string times(uint32_t count) {
    return count == 1 ? "once" : std::to_string(count) + " times";
  }
  std::string place(const MbarrierEvent &e) const {
    std::string text = "at byte " + std::to_string(e.address);
    if (isClustered)
      text += " of CTA " + std::to_string(e.ownerRank) + " of the cluster";
    return text;
  }
  void reportAt(const MbarrierEvent &e, const std::string &message) {
    report(e.pc, e.warp, e.mask ? __builtin_ctz(e.mask) : -1,
           opcode(e.pc) + message);
  }

  uint64_t cta;
  uint32_t rank;
  bool isClustered;
  std::shared_ptr<Objects> objects;
  const std::vector<int32_t> &answers; ///< by pc: predicate of a wait, or -1
  std::vector<std::vector<Answer>> unread; ///< by warp
};

class MbarrierChecker : public Checker {
public:
  std::string_view name() const override { return "mbarrier"; }
  uint32_t interests() const override {
    return kInstructions | kBarriers | kMemory;
  }
  void kernelBegin(const KernelEvent &event) override {
    Checker::kernelBegin(event);
    answers.clear();
    isUsed = false;
    for (const InstructionInfo &i : event.code.instructions) {
      isUsed |= i.opcode.find("mbarrier") != std::string::npos;
      bool isWait = i.opcode.starts_with("mbarrier.t") && !i.writes.empty();
      answers.push_back(isWait ? int32_t(i.writes[0]) : -1);
    }
  }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    if (!isUsed)
      return nullptr;
    return std::make_unique<MbarrierCTA>(event, name(), objects.of(event),
                                         answers);
  }
  void ctaEnd(const CTAEvent &event, CTAObserver &observer,
              bool completed) override {
    static_cast<MbarrierCTA &>(observer).atEnd();
    Checker::ctaEnd(event, observer, completed);
  }
  void kernelEnd(Report &report) override {
    Checker::kernelEnd(report);
    objects.clear();
  }

private:
  bool isUsed = false;
  std::vector<int32_t> answers;
  ClusterStates<Objects> objects;
};
} // namespace

std::unique_ptr<ExecutionObserver> ptxvm::makeMbarrierChecker() {
  return std::make_unique<MbarrierChecker>();
}
