//===- LitmusTest.cpp - litmus tests of the memory model ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.1 chapter 8. Each test runs in warps of one CTA over shared and
// over global memory, and in CTAs over global memory with one and with three
// host threads, each under many orders and delays. An outcome that the model
// forbids must never appear.
//
// What appears of the allowed ones: on one host thread all interleavings, and
// nothing else, because accesses take effect in the order of the turns; so the
// outcomes that need reordering (store buffering and load buffering without
// fences, IRIW with relaxed loads) never do, and the tests say so. With more
// host threads the host's own ordering comes in (x86: stores may be delayed).
//
//===----------------------------------------------------------------------===//
#include "Harness.h"

#include <random>
#include <set>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
using Outcome = std::vector<uint32_t>;

struct Litmus {
  const char *name;
  /// One body a thread; %x and %y are the variables (generic addresses), the
  /// results go to %a and %b.
  std::vector<std::string> threads;
  /// Which of threads' a, b make the outcome, as thread * 2 + (0 or 1).
  std::vector<unsigned> shown;
  /// Outcomes that the model forbids.
  std::set<Outcome> forbidden;
  /// Outcomes that it allows and interleaving cannot give.
  std::set<Outcome> reordered;
};

const std::vector<Litmus> &tests() {
  static const std::string st = "st.relaxed.gpu.u32 ",
                           ld = "ld.relaxed.gpu.u32 ";
  static const std::string sc = "fence.sc.gpu;", acq = "fence.acq_rel.gpu;";
  auto iriw = [](const std::string &fence) {
    return std::vector<std::string>{st + "[%x], 1;", st + "[%y], 1;",
                                    ld + "%a, [%x];" + fence + ld + "%b, [%y];",
                                    ld + "%a, [%y];" + fence + ld +
                                        "%b, [%x];"};
  };
  static const std::vector<Litmus> kTests = {
      {"message passing, release and acquire",
       {st + "[%x], 1; st.release.gpu.u32 [%y], 1;",
        "ld.acquire.gpu.u32 %a, [%y];" + ld + "%b, [%x];"},
       {2, 3},
       {{1, 0}},
       {}},
      {"message passing, fences",
       {"st.u32 [%x], 1;" + acq + st + "[%y], 1;",
        ld + "%a, [%y];" + acq + "ld.u32 %b, [%x];"},
       {2, 3},
       {{1, 0}},
       {}},
      {"message passing, atomics",
       {"st.u32 [%x], 1; red.release.gpu.add.u32 [%y], 1;",
        "atom.acquire.gpu.exch.b32 %a, [%y], 7; ld.u32 %b, [%x];"},
       {2, 3},
       {{1, 0}},
       {}},
      {"message passing, relaxed",
       {st + "[%x], 1;" + st + "[%y], 1;", ld + "%a, [%y];" + ld + "%b, [%x];"},
       {2, 3},
       {},
       {{1, 0}}},
      {"store buffering, fence.sc",
       {st + "[%x], 1;" + sc + ld + "%a, [%y];",
        st + "[%y], 1;" + sc + ld + "%a, [%x];"},
       {0, 2},
       {{0, 0}},
       {}},
      {"store buffering, relaxed",
       {st + "[%x], 1;" + ld + "%a, [%y];", st + "[%y], 1;" + ld + "%a, [%x];"},
       {0, 2},
       {},
       {{0, 0}}},
      {"load buffering, fences",
       {ld + "%a, [%x];" + acq + st + "[%y], 1;",
        ld + "%a, [%y];" + acq + st + "[%x], 1;"},
       {0, 2},
       {{1, 1}},
       {}},
      {"load buffering, relaxed",
       {ld + "%a, [%x];" + st + "[%y], 1;", ld + "%a, [%y];" + st + "[%x], 1;"},
       {0, 2},
       {},
       {{1, 1}}},
      {"no value out of thin air",
       {ld + "%a, [%x];" + st + "[%y], %a;",
        ld + "%a, [%y];" + st + "[%x], %a;"},
       {0, 2},
       {{42, 42}, {1, 1}},
       {}},
      {"independent reads of independent writes, fence.sc",
       iriw(sc),
       {4, 5, 6, 7},
       {{1, 0, 1, 0}},
       {}},
      {"independent reads of independent writes, relaxed",
       iriw(""),
       {4, 5, 6, 7},
       {},
       {{1, 0, 1, 0}}},
      {"coherence of two reads",
       {st + "[%x], 1;" + st + "[%x], 2;", ld + "%a, [%x];" + ld + "%b, [%x];"},
       {2, 3},
       {{1, 0}, {2, 0}, {2, 1}},
       {}},
      {"coherence of a write and a read",
       {st + "[%x], 1;" + ld + "%a, [%x];", st + "[%x], 2;"},
       {0},
       {{0}},
       {}},
      {"atomics are atomic",
       {"atom.relaxed.gpu.add.u32 %a, [%x], 1;",
        "atom.relaxed.gpu.add.u32 %a, [%x], 1;",
        "atom.relaxed.gpu.add.u32 %a, [%x], 1;"},
       {0, 2, 4},
       {{0, 0, 0},
        {0, 0, 1},
        {0, 1, 0},
        {1, 0, 0},
        {1, 1, 0},
        {1, 0, 1},
        {0, 1, 1},
        {1, 1, 1}},
       {}},
      {"write to read causality",
       {st + "[%x], 1;", ld + "%a, [%x];" + acq + st + "[%y], %a;",
        ld + "%a, [%y];" + acq + ld + "%b, [%x];"},
       {2, 4, 5},
       {{1, 1, 0}},
       {}},
  };
  return kTests;
}

enum Place { WarpsShared, WarpsGlobal, Ctas, CtasThreads };

std::string kernel(const Litmus &t, Place place) {
  bool isShared = place == WarpsShared, isCta = place >= Ctas;
  std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_vars, .param .u64 k_delays, .param .u64 k_out)
{
  .reg .b32 %a, %b, %r<8>;
  .reg .b64 %x, %y, %rd<8>;
  .reg .pred %p<4>;
  .shared .align 128 .b8 smem[256];
  mov.u32 %r0, )" + std::string(isCta ? "%ctaid.x" : "%tid.x") +
                     ";\n";
  if (!isCta)
    text += "shr.u32 %r0, %r0, 5;\n";
  text += isShared ? "mov.u64 %x, smem; cvta.shared.u64 %x, %x;\n"
                     "st.shared.u32 [smem], 0; st.shared.u32 [smem+128], 0;\n"
                   : "ld.param.u64 %x, [k_vars];\n";
  text += R"(
  add.u64 %y, %x, 128;
  mov.u32 %a, 0;
  mov.u32 %b, 0;
  ld.param.u64 %rd1, [k_delays];
  mad.wide.u32 %rd1, %r0, 4, %rd1;
  ld.global.u32 %r1, [%rd1];
  mov.u32 %r3, %tid.x;
  and.b32 %r3, %r3, 31;
  setp.ne.u32 %p2, %r3, 0;
  bar.sync 0;
  @%p2 ret;
DELAY:
  setp.eq.u32 %p0, %r1, 0;
  @%p0 bra GO;
  sub.u32 %r1, %r1, 1;
  bra DELAY;
GO:
)";
  for (size_t k = 0; k < t.threads.size(); ++k)
    text += "setp.ne.u32 %p1, %r0, " + std::to_string(k) + "; @%p1 bra T" +
            std::to_string(k) + ";\n" + t.threads[k] + "\nbra END; T" +
            std::to_string(k) + ":\n";
  return text + R"(
END:
  ld.param.u64 %rd1, [k_out];
  mad.wide.u32 %rd1, %r0, 8, %rd1;
  st.global.v2.u32 [%rd1], {%a, %b};
  ret;
})";
}

std::set<Outcome> observe(const Litmus &t, Place place, unsigned runs) {
  auto module = Module::parse(kernel(t, place), t.name);
  EXPECT_TRUE(module) << module.error().str();
  std::set<Outcome> seen;
  uint32_t n = uint32_t(t.threads.size());
  for (uint64_t seed = 1; seed <= runs; ++seed) {
    std::mt19937 random{unsigned(seed)};
    DeviceOptions options;
    options.order = {OrderPolicy::Random, seed};
    options.threads = place == CtasThreads ? 3 : 1;
    Device device(options);
    uint64_t vars = device.alloc(256, "vars"), out = device.alloc(64, "out");
    uint64_t delays = device.alloc(16, "delays");
    uint32_t zeros[64] = {}, wait[4];
    for (uint32_t &d : wait)
      d = random() % 60;
    device.write(vars, zeros, 256);
    device.write(out, zeros, 64);
    device.write(delays, wait, 16);
    LaunchShape shape{
        {place >= Ctas ? n : 1}, {place >= Ctas ? 1 : 32 * n}, {0, 0, 0}, 0};
    Report r = device.launch(
        *module, "k", shape,
        {Argument::of(vars), Argument::of(delays), Argument::of(out)});
    EXPECT_TRUE(r.ok()) << r.diagnostics.at(0).str();
    uint32_t all[16];
    device.read(out, all, 64);
    Outcome outcome;
    for (unsigned k : t.shown)
      outcome.push_back(all[k]);
    seen.insert(outcome);
  }
  return seen;
}

std::string text(const Outcome &o) {
  std::string s;
  for (uint32_t v : o)
    s += std::to_string(v) + " ";
  return s;
}

TEST(Litmus, forbiddenOutcomesNeverAppear) {
  for (const Litmus &t : tests())
    for (Place place : {WarpsShared, WarpsGlobal, Ctas, CtasThreads}) {
      std::set<Outcome> seen = observe(t, place, 40);
      for (const Outcome &o : seen) {
        EXPECT_FALSE(t.forbidden.count(o))
            << t.name << " in place " << place << ": " << text(o);
        bool isReordered = place != CtasThreads && t.reordered.count(o);
        EXPECT_FALSE(isReordered)
            << t.name << " in place " << place << ": " << text(o);
      }
    }
}

TEST(Litmus, differentInterleavingsAppear) {
  // Among warps both ends of each race win now and then.
  for (const Litmus &t : tests()) {
    std::set<Outcome> seen = observe(t, WarpsShared, 400);
    std::string all;
    for (const Outcome &o : seen)
      all += text(o) + "| ";
    bool hasOne = std::string(t.name) == "no value out of thin air";
    EXPECT_GT(seen.size(), hasOne ? 0u : 1u) << t.name << ": " << all;
  }
}

/// Message passing through an mbarrier: arrive releases, a wait acquires, in
/// one CTA and from another CTA of a cluster.
TEST(Litmus, messagePassingThroughAnMbarrier) {
  const std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 k_out)
{
  .reg .b32 %r<12>, %rank;
  .reg .b64 %rd<8>;
  .reg .pred %p<4>;
  .shared .align 8 .b64 bar;
  .shared .align 16 .b32 data;
  mov.u32 %rank, %cluster_ctarank;
  mov.u32 %r0, bar;
  mov.u32 %r1, data;
  mbarrier.init.shared.b64 [bar], 1;
  st.shared.u32 [data], 0;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive; barrier.cluster.wait;
  setp.ne.u32 %p0, %rank, 0;
  @%p0 bra READER;
  mapa.shared::cluster.u32 %r2, %r0, 1;
  mapa.shared::cluster.u32 %r3, %r1, 1;
  st.shared::cluster.u32 [%r3], 41;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
  bra END;
READER:
  mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;
  ld.shared.u32 %r5, [data];
  selp.u32 %r4, 1, 0, %p1;
  ld.param.u64 %rd0, [k_out];
  st.global.v2.u32 [%rd0], {%r4, %r5};
END:
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
})";
  auto module = Module::parse(text, "mbarrier.ptx");
  ASSERT_TRUE(module) << module.error().str();
  std::set<Outcome> seen;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    DeviceOptions options;
    options.order = {OrderPolicy::Random, seed};
    Device device(options);
    uint64_t out = device.alloc(8, "out");
    Report r =
        device.launch(*module, "k", {{2}, {1}, {2}, 0}, {Argument::of(out)});
    ASSERT_TRUE(r.ok()) << r.diagnostics.at(0).str();
    uint32_t got[2];
    device.read(out, got, 8);
    seen.insert({got[0], got[1]});
  }
  EXPECT_FALSE(seen.count({1, 0}));
  EXPECT_TRUE(seen.count({1, 41}));
  EXPECT_TRUE(seen.count({0, 0}));
}
} // namespace
