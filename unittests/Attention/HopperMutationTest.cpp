//===- HopperMutationTest.cpp - compiled kernels made wrong ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row takes one thing away from the PTX of a kernel with producers that
// docs/Hopper.md says must be there; a checker must find it, by name, or the
// results must change. Places are told by instructions and counted in the order
// of the text: first block, loop of full blocks, loop of partial blocks, last
// block, loop for huge scores; then the producer.
//
// Not here: the address of an arrival that depends on the row sums. It keeps
// ptxas from moving a wait; a machine that moves nothing cannot miss it. The
// figures of the machine code do: utils/tests/test_overlap.py.
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <functional>
#include <regex>

using namespace farun;
using namespace farun::test;

namespace {

//===----------------------------------------------------------------------===//
// Changes of a text
//===----------------------------------------------------------------------===//

/// The changed text; the same one when there is no place for the change.
using Mutation = std::function<std::string(const std::string &)>;
constexpr int kAll = 0;

/// Puts `by`, with $1 for the first group and so on, in the place of the nth
/// match of `pattern`.
Mutation edit(const std::string &pattern, const std::string &by, int nth = 1) {
  return [=](const std::string &text) {
    const std::regex expression(pattern);
    std::string result;
    auto rest = text.cbegin();
    std::smatch match;
    for (int count = 1; std::regex_search(rest, text.cend(), match, expression);
         ++count) {
      result.append(rest, match[0].first);
      result += nth == kAll || nth == count ? match.format(by) : match.str();
      rest = match[0].second;
    }
    return result.append(rest, text.cend());
  };
}

Mutation drop(const std::string &pattern, int nth = 1) {
  return edit(pattern, "", nth);
}

const std::string kFence = "wgmma\\.fence\\.sync\\.aligned;";
const std::string kCommit = "wgmma\\.commit_group\\.sync\\.aligned;";
const std::string kWaitAll = "wgmma\\.wait_group\\.sync\\.aligned 0;";
const std::string kWaitButOne = "wgmma\\.wait_group\\.sync\\.aligned 1;";
const std::string kArrive = "mbarrier\\.arrive\\.shared::cta\\.b64 _, "
                            "\\[(%r\\d+)\\];";
const std::string kExpect = "mbarrier\\.arrive\\.expect_tx\\.shared::cta\\.b64 "
                            "_, \\[(%r\\d+)\\], (\\d+);";
const std::string kCopy =
    "(cp\\.async\\.bulk\\.tensor\\.4d\\.[a-z_:.]+ \\[%r\\d+\\], \\[%rd\\d+, )"
    "\\{(%r\\d+), (%r\\d+), ([^}]+)\\}(\\], \\[%r\\d+\\];)";
const std::string kInit =
    "(mbarrier\\.init\\.shared::cta\\.b64 \\[%r\\d+\\]), ";
const std::string kNoted =
    "(bar\\.red\\.or\\.pred any, 0, )(\\d+)(, mine; selp\\.b32 %r\\d+, )1, 0, "
    "any;";

// Waits for barriers. Of the consumers: Q, K of the first block, K and V of the
// full blocks; of the producer: K and V.
enum Wait { Query = 1, FirstKey, Key, Value, EmptyKey = 10, EmptyValue };
const std::string kWait = "\\{ \\.reg \\.pred done; (wait_\\d+: mbarrier\\."
                          "try_wait\\.parity\\.shared::cta\\.b64 done, "
                          "\\[%r\\d+\\]), (%r\\d+);";

/// Waits for the phase of the other parity.
Mutation flipParity(Wait wait) {
  return edit(kWait,
              "{ .reg .pred done; .reg .b32 other; xor.b32 other, $2, 1; $1, "
              "other;",
              wait);
}

Mutation dropWait(Wait wait) {
  return drop(kWait + " @!done bra\\.uni wait_\\d+; \\}", wait);
}

//===----------------------------------------------------------------------===//
// Kernels and what finds their faults
//===----------------------------------------------------------------------===//

struct MutationCase {
  const char *name;
  Mutation mutate;
  /// The checker that must find it; others may, too. With "numbers" the results
  /// must differ from those of the unchanged kernel.
  std::string checker;
};
void PrintTo(const MutationCase &c, std::ostream *os) { *os << c.name; }

std::unique_ptr<Device> openMachine(const char *order, const char *checkers) {
  DeviceOptions options;
  options.order = order;
  options.sanitize = checkers;
  options.maxInstructions = 1 << 22;
  options.multiprocessors = 1; // which does all tiles of a persistent kernel
  return openEmulator(options);
}

void expectCaught(const Trial &trial, const MutationCase &c) {
  const std::string &right = trial.kernel().ptx, wrong = c.mutate(right);
  ASSERT_NE(wrong, right) << "the kernel has no place for this mutation";
  if (c.checker == "numbers") {
    std::unique_ptr<Device> device = openMachine("round-robin", "none");
    std::vector<std::byte> plain = bits(trial.runInstead(right, *device));
    RunResult result = trial.runInstead(wrong, *device);
    ASSERT_FALSE(plain.empty());
    EXPECT_FALSE(result.failure) << result.failure->str();
    EXPECT_TRUE(bits(result) != plain) << "the results are the same";
    return;
  }
  std::string said;
  for (const char *order : {"round-robin", "reverse", "random:1", "random:2"}) {
    std::unique_ptr<Device> device = openMachine(order, "all");
    for (const std::string &line :
         trial.runInstead(wrong, *device).diagnostics) {
      if (line.find("[" + c.checker + ";") != std::string::npos ||
          line.find("[" + c.checker + "]") != std::string::npos)
        return;
      said += std::string("\n") + order + ": " + line;
    }
  }
  ADD_FAILURE() << "'" << c.checker << "' does not find it:" << said;
}

/// Two warpgroups of consumers, panels in twos, five blocks and a part.
Form twoGroups() {
  return {.headDim = 128, .valueDim = 128, .schedule = "tile_q=128,tile_kv=32"};
}

class HopperMutation : public testing::TestWithParam<MutationCase> {};

TEST_P(HopperMutation, IsCaught) {
  Trial trial(twoGroups(), {1, 1, 1, 128, 165});
  expectCaught(trial.seed(41), GetParam());
}

/// The weights of the full blocks, rounded in front of the wait for u.
std::string roundBeforeTheWait(const std::string &text) {
  std::smatch round;
  const std::regex expression("cvt\\.rn\\.f16x2\\.f32 \t%r\\d+, %r\\d+, "
                              "%r\\d+;");
  if (!std::regex_search(text, round, expression))
    return text;
  return edit(kWaitAll, round.str() + " $&", 2)(text);
}

/// How the producers' warps give registers back; `copies` is the first of them.
Mutation giveRegisters(const std::string &how) {
  return edit("setmaxnreg\\.dec\\.sync\\.aligned\\.u32 40;",
              "{ .reg .b32 mine; .reg .pred copies; mov.u32 mine, %tid.x; "
              "setp.lt.u32 copies, mine, 288; " +
                  how + " }");
}

const MutationCase kCases[] = {
    {"noFenceBeforeTheScores", drop(kFence, 2), "wgmma"},
    {"noFenceBeforeTheLastValues", drop(kFence, 6), "wgmma"},
    {"noWaitForTheFirstScores", drop(kWaitAll, 1), "wgmma"},
    {"noWaitForTheScores", drop(kWaitButOne, 1), "wgmma"},
    {"noWaitForTheValues", drop(kWaitAll, 2), "wgmma"},
    {"noWaitForTheLastValues", drop(kWaitAll, 4), "wgmma"},
    {"noCommitOfTheScores", drop(kCommit, 2), "wgmma"},
    {"noCommitOfTheValues", drop(kCommit, 3), "wgmma"},
    {"weightsRoundedBeforeTheWait", roundBeforeTheWait, "wgmma"},

    {"noWaitForTheQuery", dropWait(Query), "async-wait"},
    {"noWaitForAFullKey", dropWait(Key), "async-wait"},
    {"noWaitForAFullValue", dropWait(Value), "async-wait"},
    {"noWaitForAnEmptyKey", dropWait(EmptyKey), "mbarrier"},
    {"noWaitForAnEmptyValue", dropWait(EmptyValue), "mbarrier"},
    {"parityOfTheConsumerFlipped", flipParity(Key), "async-wait"},
    {"parityOfTheProducerFlipped", flipParity(EmptyKey), "deadlock"},
    {"keyIsNotGivenBack", drop(kArrive, 2), "deadlock"},
    {"valueIsNotGivenBack", drop(kArrive, 3), "deadlock"},
    {"keyIsGivenBackTwice", edit(kArrive, "$& $&", 2), "mbarrier"},
    {"oneStageForAll",
     edit("shl\\.b32 \t(%r\\d+), (%r\\d+), 13;", "mov.b32 $1, 0;", kAll),
     "async-wait"},

    {"expectsNothing",
     edit(kExpect, "mbarrier.arrive.shared::cta.b64 _, [$1];", 2), "mbarrier"},
    {"expectsOnePanel", edit("(_, \\[%r\\d+\\], )8192;", "$014096;"),
     "mbarrier"},
    {"expectsThreePanels", edit("(_, \\[%r\\d+\\], )8192;", "$0112288;"),
     "mbarrier"},
    {"aPanelIsNotCopied", drop(kCopy, 4), "deadlock"},
    {"rowsForColumns", edit(kCopy, "$1{$3, $2, $4}$5", 3), "numbers"},
    {"firstColumnsTwice", edit("(%r\\d+, %r\\d+, )64;", "$010;", kAll),
     "numbers"},
    {"fullCountsTwo", edit(kInit + "1;", "$1, 2;", 2), "deadlock"},
    {"emptyCountsOneGroup", edit(kInit + "8;", "$1, 4;"), "mbarrier"},
    {"noFenceBehindTheInits", drop("fence\\.mbarrier_init[a-z.]+;", kAll),
     "proxy-fence"},
    {"noBarrierBehindTheInits", drop("bar\\.sync \t0;"), "race"},

    // The value of bits 62 and 63, bytes between panels in bits 16 to 29.
    {"noSwizzle", edit("4611686293305360384", "274877972480", kAll), "numbers"},
    {"panelsOfVTooClose",
     edit("4611686293322072064", "4611686293305360384", kAll), "numbers"},

    {"producerKeepsItsRegisters",
     drop("setmaxnreg\\.dec\\.sync\\.aligned\\.u32 40;"), "deadlock"},
    {"idleWarpsKeepTheirRegisters", giveRegisters("@copies $&"),
     "register-pool"},
    {"idleWarpsGiveTheirRegistersElsewhere",
     giveRegisters("@copies $& @!copies $&"), "register-pool"},
    {"tooManyMeetBehindTheLoops", edit(kNoted, "$01320$031, 0, any;", kAll),
     "deadlock"},
    {"onlyTheConsumersMeet", edit(kNoted, "$01256$031, 0, any;", 1),
     "barriers"},
};
INSTANTIATE_TEST_SUITE_P(Compiled, HopperMutation, testing::ValuesIn(kCases),
                         [](const auto &i) { return i.param.name; });

TEST(HopperMutationSubject, IsClean) {
  Trial trial(twoGroups(), {1, 1, 1, 128, 165});
  RunResult plain = trial.seed(41).run();
  RunResult same =
      trial.runInstead(trial.kernel().ptx, *openMachine("reverse", "all"));
  EXPECT_FALSE(same.failure);
  EXPECT_TRUE(same.diagnostics.empty());
  EXPECT_TRUE(bits(same) == bits(plain));
}

//===----------------------------------------------------------------------===//
// Tiles by the producer's lanes
//===----------------------------------------------------------------------===//

class HopperLanesMutation : public testing::TestWithParam<MutationCase> {};

TEST_P(HopperLanesMutation, IsCaught) {
  // Rows in the other direction, which no map describes, 16 bytes at a time.
  Trial trial(twoGroups(), {1, 1, 1, 128, 165});
  trial.seed(42)
      .strides("query", {1, 1, -128, 1})
      .strides("value", {1, 1, -128, 1});
  expectCaught(trial, GetParam());
}

const std::string kShow = "fence\\.proxy\\.async\\.shared::cta;";
const MutationCase kLanesCases[] = {
    {"noProxyFenceBehindTheQuery", drop(kShow, 1), "proxy-fence"},
    {"noProxyFenceBehindAValue", drop(kShow, 2), "proxy-fence"},
    {"noWaitForTheCopies", drop("cp\\.async\\.wait_group \t0;", 2),
     "async-wait"},
};
INSTANTIATE_TEST_SUITE_P(Compiled, HopperLanesMutation,
                         testing::ValuesIn(kLanesCases),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// One tile after the other
//===----------------------------------------------------------------------===//

Form persistentGroups() {
  Form form = twoGroups();
  form.schedule += ",persistent=true";
  return form;
}

class HopperPersistentMutation : public testing::TestWithParam<MutationCase> {};

TEST_P(HopperPersistentMutation, IsCaught) {
  Trial trial(persistentGroups(), {1, 1, 1, 384, 165});
  expectCaught(trial.seed(44), GetParam());
}

TEST(HopperPersistentMutationSubject, IsClean) {
  Trial trial(persistentGroups(), {1, 1, 1, 384, 165});
  trial.seed(44);
  RunResult result =
      trial.runInstead(trial.kernel().ptx, *openMachine("reverse", "all"));
  EXPECT_FALSE(result.failure);
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_EQ(counter(result, "ctas"), 1);
}

// The producer of Q comes last, and waits last.
constexpr int kEmptyQuery = 14;
// Consumers give Q back where their loop ends, which the text has in front.
constexpr int kGiveQueryBack = 1;

const MutationCase kPersistentCases[] = {
    {"noWaitForTheQueryGivenBack",
     drop(kWait + " @!done bra\\.uni wait_\\d+; \\}", kEmptyQuery), "mbarrier"},
    {"queryIsNotGivenBack", drop(kArrive, kGiveQueryBack), "deadlock"},
    {"queryIsGivenBackTwice", edit(kArrive, "$& $&", kGiveQueryBack),
     "mbarrier"},
    {"queryIsGivenBackByOneGroup", edit(kInit + "8;", "$1, 4;"), "mbarrier"},
    {"queryIsGivenBackBeforeTheStoreHasReadIt",
     drop("cp\\.async\\.bulk\\.wait_group\\.read 0;"), "async-wait"},
    {"queryPhaseBeginsAnewWithEachTile",
     edit(kWait,
          "{ .reg .pred done; .reg .b32 zero; mov.b32 zero, 0; $1, zero;",
          Query),
     "async-wait"},
    {"consumersCountAnewWithEachTile",
     edit("add\\.s32 \t(%r\\d+), %r\\d+, %r\\d+;"
          "(\\s+add\\.s32 \t(%r\\d+), \\3, 1;\\s+add\\.s64)",
          "mov.b32 \t$1, 0;$2"),
     "async-wait"},
    {"producerCountsAnewWithEachTile",
     edit("add\\.s32 \t(%r\\d+), %r\\d+, %r\\d+;"
          "(\\s+add\\.s64 \t(%rd\\d+), \\3, %rd\\d+;\\s+setp\\.lt)",
          "mov.b32 \t$1, 0;$2"),
     "deadlock"},
    {"producersOfTheQueryMeetToo", edit(kNoted, "$01320$031, 0, any;", kAll),
     "deadlock"},
};
INSTANTIATE_TEST_SUITE_P(Compiled, HopperPersistentMutation,
                         testing::ValuesIn(kPersistentCases),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// Two blocks of threads that share K and V
//===----------------------------------------------------------------------===//

Form clusterGroups() {
  Form form = twoGroups();
  form.schedule += ",cluster=2";
  return form;
}

const std::string kMeet = "barrier\\.cluster\\.arrive;\\s+"
                          "barrier\\.cluster\\.wait;";
const std::string kArriveAtBoth =
    "\\{ \\.reg \\.b32 there; mapa\\.shared::cluster\\.u32 there, (%r\\d+), "
    "(%r\\d+); mbarrier\\.arrive\\.shared::cluster\\.b64 _, \\[there\\]; \\}";
const std::string kMask = "(mov\\.b16 \t%rs\\d+, )3;";
const std::string kSendToBoth = "(cp\\.async\\.bulk\\.tensor\\.4d\\.[a-z_:.]+)"
                                "\\.multicast::cluster ([^;]+), "
                                "%rs\\d+;";

/// Arrives only at the block's own barrier: at that of the lane whose number
/// is the block's rank.
const std::string kOnlyAtHome =
    "{ .reg .b32 mine; .reg .pred home; mov.u32 mine, %cluster_ctarank; "
    "setp.eq.u32 home, $2, mine; "
    "@home mbarrier.arrive.shared::cta.b64 _, [$1]; }";

/// Lets the second block of a cluster spend time in front of the nth match.
Mutation delaySecond(const std::string &pattern, int nth) {
  return edit(pattern,
              "{ .reg .b32 left; .reg .pred more; "
              "mov.u32 left, %cluster_ctarank; mul.lo.u32 left, left, 5000; "
              "late: sub.s32 left, left, 1; setp.gt.s32 more, left, 0; "
              "@more bra late; } $&",
              nth);
}

// Of the consumers: K of the first block, K and V of full and of partial ones,
// V of the last; of the producer, by lanes: K and V.
enum Arrival { LastValue = 6, KeyByLanes };

Mutation secondGivesBackLate() { return delaySecond(kArriveAtBoth, LastValue); }
Mutation secondProducesLate() { return delaySecond(kWait, EmptyKey); }

Trial clusterTrial() {
  Trial trial(clusterGroups(), {1, 1, 1, 256, 165});
  return trial.seed(45);
}
Trial clusterTrialByLanes() {
  Trial trial = clusterTrial();
  return trial.strides("key", {1, 1, -128, 1})
      .strides("value", {1, 1, -128, 1});
}

class HopperClusterMutation : public testing::TestWithParam<MutationCase> {};

TEST_P(HopperClusterMutation, IsCaught) {
  expectCaught(clusterTrial(), GetParam());
}

/// Whoever of the two is late.
TEST(HopperClusterMutationSubject, IsClean) {
  for (const Trial &trial : {clusterTrial(), clusterTrialByLanes()})
    for (const Mutation &delay :
         {secondGivesBackLate(), secondProducesLate(), drop("// nothing")})
      for (const char *order : {"round-robin", "reverse", "random:1"}) {
        const std::string text = delay(trial.kernel().ptx);
        RunResult result = trial.runInstead(text, *openMachine(order, "all"));
        EXPECT_FALSE(result.failure);
        for (const std::string &line : result.diagnostics)
          ADD_FAILURE() << order << ": " << line;
        EXPECT_EQ(counter(result, "ctas"), 2);
      }
}

const MutationCase kClusterCases[] = {
    {"tilesAreGivenBackToNobodyElse", edit(kArriveAtBoth, kOnlyAtHome, kAll),
     "deadlock"},
    {"aKeyIsGivenBackToNobodyElse", edit(kArriveAtBoth, kOnlyAtHome, 2),
     "deadlock"},
    {"tilesAreGivenBackToThisBlockTwice",
     edit(kArriveAtBoth, "mbarrier.arrive.shared::cta.b64 _, [$1];", kAll),
     "race"},
    {"emptyCountsOneBlock", edit(kInit + "16;", "$1, 8;", kAll), "mbarrier"},
    {"nobodyMeetsAtTheBeginning", drop(kMeet, 1), "race"},
    {"onlyBlocksMeetAtTheBeginning", edit(kMeet, "bar.sync 0;", 1), "race"},
    {"nobodyMeetsAtTheEnd",
     [](const std::string &text) {
       return secondGivesBackLate()(drop(kMeet, 2)(text));
     },
     "bounds"},
    {"halvesComeToTheFirstBlockOnly", edit(kMask, "$011;", kAll), "deadlock"},
    {"halvesComeToThreeBlocks", edit(kMask, "$017;", kAll), "bounds"},
    {"halvesStayAtHome", edit(kSendToBoth, "$1 $2;", kAll), "deadlock"},
    {"expectsAHalf", edit("(_, \\[%r\\d+\\], )8192;", "$014096;", kAll),
     "mbarrier"},
    {"expectsTheHalfOfOneTile", edit("(_, \\[%r\\d+\\], )8192;", "$014096;"),
     "mbarrier"},
    {"noWaitForAnEmptyKey", dropWait(EmptyKey), "mbarrier"},
    {"noWaitForAFullKey", dropWait(Key), "async-wait"},
};
INSTANTIATE_TEST_SUITE_P(Compiled, HopperClusterMutation,
                         testing::ValuesIn(kClusterCases),
                         [](const auto &i) { return i.param.name; });

class HopperClusterLanesMutation : public testing::TestWithParam<MutationCase> {
};

TEST_P(HopperClusterLanesMutation, IsCaught) {
  expectCaught(clusterTrialByLanes(), GetParam());
}

/// By two arrivals of the block itself, for K and then for V.
std::string fillAlone(const std::string &text) {
  Mutation next = edit(kArriveAtBoth,
                       "mbarrier.arrive.shared::cta.b64 _, [$1];", KeyByLanes);
  return next(next(text));
}

const MutationCase kClusterLanesCases[] = {
    // One block goes on though the other's producer is behind.
    {"tilesByLanesAreFullAtOnce",
     [](const std::string &text) {
       return secondProducesLate()(fillAlone(text));
     },
     "mbarrier"},
};
INSTANTIATE_TEST_SUITE_P(Compiled, HopperClusterLanesMutation,
                         testing::ValuesIn(kClusterLanesCases),
                         [](const auto &i) { return i.param.name; });

//===----------------------------------------------------------------------===//
// Restarts
//===----------------------------------------------------------------------===//

class HopperRestartMutation : public testing::TestWithParam<MutationCase> {};

TEST_P(HopperRestartMutation, IsCaught) {
  // One row of the second warpgroup has huge scores; five blocks leave the
  // rings half way round.
  Form form = twoGroups();
  form.type = "bf16";
  form.clauses = "scale(1.0)";
  Trial trial(form, {1, 1, 1, 128, 160});
  trial.seed(43);
  Values query = trial.input("query").values();
  for (size_t d = 0; d < 128; ++d)
    query[100 * 128 + d] *= 1e12;
  expectCaught(trial.set("query", query), GetParam());
}

const MutationCase kRestartCases[] = {
    {"nobodyBeginsAgain", edit(kNoted, "$01$02$030, 0, any;", kAll), "numbers"},
    {"onlyTheConsumersBeginAgain", edit(kNoted, "$01$02$030, 0, any;", 2),
     "deadlock"},
    {"onlyWhoNotedItBeginsAgain", edit(kNoted, "$01$02$031, 0, mine;", 1),
     "deadlock"},
    // Blocks before the restart, which stages and parities go on from.
    {"consumersBeginWithTheFirstStage",
     edit("selp\\.b32 (\t%r\\d+), 0, %r\\d+, %p\\d+;", "mov.b32 $1, 0;", 1),
     "deadlock"},
};
INSTANTIATE_TEST_SUITE_P(Compiled, HopperRestartMutation,
                         testing::ValuesIn(kRestartCases),
                         [](const auto &i) { return i.param.name; });

} // namespace
