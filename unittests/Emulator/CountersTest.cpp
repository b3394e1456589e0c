//===- CountersTest.cpp - counts that can be done by hand -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp, known addresses: bytes, sectors, wavefronts and the mix.
//
//===----------------------------------------------------------------------===//
#include "Harness.h"
#include "Mutations.h"

#include "fa/Emulator/Counters.h"

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
Counters count(const std::string &body) {
  Counters counters;
  Snippet r = run(body, {}, {}, {&counters});
  EXPECT_TRUE(r.report.ok()) << r.report.diagnostics.at(0).str();
  return counters;
}

double value(const Counters &counters, const std::string &name) {
  for (const auto &[key, number] : counters.values())
    if (key == name)
      return number;
  return -1;
}

// The harness itself loads and stores four rows of 128 bytes.
TEST(Counters, globalBytesAndSectorsByBuffer) {
  Counters c = count(R"(
    ld.global.u32 %r0, [%a0];
    mad.wide.u32 %rd0, %tid, 8, %a0;
    ld.global.u8 %h0, [%rd0];
    setp.lt.u32 %p0, %tid, 2;
    @%p0 st.global.v4.u32 [%a1], {%r0, %r0, %r0, %r0};)");
  // A broadcast asks for 128 bytes of one sector; the bytes lie in 8 sectors.
  EXPECT_EQ(c.loaded().bytes, 512u + 128 + 32);
  EXPECT_EQ(c.loaded().sectors, 16u + 1 + 8);
  EXPECT_EQ(c.loaded().lines, 4u + 1 + 2);
  EXPECT_EQ(c.stored().bytes, 512u + 32);
  EXPECT_EQ(c.stored().sectors, 16u + 1);
  EXPECT_EQ(c.buffers().at("in").loaded.bytes, c.loaded().bytes);
  EXPECT_EQ(c.buffers().at("in").stored.bytes, 0u);
  EXPECT_EQ(c.buffers().at("out").stored.bytes, c.stored().bytes);
  EXPECT_EQ(value(c, "global.buffers.out.stored_bytes"), 544);
  EXPECT_EQ(value(c, "global.loaded_bytes"), 672);
}

TEST(Counters, copiesLoadFromTheirSource) {
  // Lane 0 copies nothing, the others 4 of 4 bytes.
  Counters c = count(R"(
    mov.u32 %r0, smem;
    mad.lo.u32 %r1, %tid, 4, %r0;
    setp.ne.u32 %p0, %tid, 0;
    selp.b32 %r2, 4, 0, %p0;
    cp.async.ca.shared.global [%r1], [%a2], 4, %r2;
    cp.async.commit_group;
    cp.async.wait_group 0;)");
  EXPECT_EQ(c.loaded().bytes, 512u + 124);
  EXPECT_EQ(c.shared(SharedKind::AsyncWrite).bytes, 128u);
  EXPECT_EQ(c.shared(SharedKind::AsyncWrite).conflicts(), 0u);
  EXPECT_EQ(value(c, "async.copies"), 1);
  EXPECT_EQ(value(c, "async.bytes"), 128);
  EXPECT_EQ(value(c, "async.commits"), 1);
  EXPECT_EQ(value(c, "async.waits"), 1);
}

struct BankCase {
  const char *what;
  uint32_t stride;
  const char *access; ///< address in %r1
  uint32_t wavefronts, conflicts;
};
TEST(Counters, banks) {
  const BankCase kCases[] = {
      {"neighbours", 4, "st.shared.u32 [%r1], %tid;", 1, 0},
      {"two lanes a bank", 8, "st.shared.u32 [%r1], %tid;", 2, 1},
      {"all in one bank", 128, "st.shared.u32 [%r1], %tid;", 32, 31},
      {"one word for all", 0, "ld.shared.u32 %r2, [%r1];", 1, 0},
      {"two bytes a lane", 2, "st.shared.u16 [%r1], %h0;", 1, 0},
      {"8 bytes, half warps", 8, "st.shared.v2.u32 [%r1], {%tid, %tid};", 2, 0},
      {"8 bytes, every second bank pair", 16,
       "st.shared.v2.u32 [%r1], {%tid, %tid};", 4, 2},
      {"16 bytes, quarter warps", 16,
       "st.shared.v4.u32 [%r1], {%tid, %tid, %tid, %tid};", 4, 0},
      {"16 bytes, rows of 128", 128,
       "st.shared.v4.u32 [%r1], {%tid, %tid, %tid, %tid};", 32, 28},
      {"matrix rows end to end", 16,
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, "
       "[%r1];",
       4, 0},
      {"matrix rows of 128 bytes", 128,
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, "
       "[%r1];",
       32, 28},
      {"one matrix", 128,
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", 8, 7},
      {"copies of 16 bytes", 16, "cp.async.cg.shared.global [%r1], [%a0], 16;",
       4, 0},
      {"copies into a column", 128,
       "cp.async.cg.shared.global [%r1], [%a0], 16;", 32, 28},
      {"atomics", 4, "red.shared.add.u32 [%r1], 1;", 1, 0},
  };
  for (const BankCase &k : kCases) {
    Counters c = count("mov.u32 %r0, smem; mov.u16 %h0, 1; mad.lo.u32 %r1, "
                       "%tid, " +
                       std::to_string(k.stride) + ", %r0;\n" + k.access);
    SharedTraffic all;
    for (unsigned kind = 0; kind < kSharedKinds; ++kind)
      all += c.shared(SharedKind(kind));
    EXPECT_EQ(all.instructions, 1u) << k.what;
    EXPECT_EQ(all.wavefronts, k.wavefronts) << k.what;
    EXPECT_EQ(all.conflicts(), k.conflicts) << k.what;
    std::vector<ConflictSite> sites = c.conflicts();
    ASSERT_EQ(sites.size(), size_t(k.conflicts != 0)) << k.what;
    if (sites.empty())
      continue;
    EXPECT_EQ(sites[0].line, 27u);
    EXPECT_EQ(sites[0].traffic.conflicts(), k.conflicts);
    EXPECT_EQ(sites[0].opcode,
              std::string(k.access).substr(0, sites[0].opcode.size()));
    EXPECT_EQ(value(c, "shared.conflict_lines.27"), k.conflicts) << k.what;
  }
}

TEST(Counters, instructionMix) {
  Counters c = count(R"(
    mov.u32 %r0, 0;
    mov.f32 %f0, 0f3F800000;
    setp.lt.u32 %p0, %tid, 8;
    @%p0 ex2.approx.f32 %f1, %f0;
    ex2.approx.f16x2 %r1, %r0;
    rcp.approx.f32 %f2, %f0;
    bar.sync 0;
    bar.warp.sync -1;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6},
      {%r0, %r0, %r0, %r0}, {%r0, %r0}, {%f0, %f0, %f0, %f0};)");
  EXPECT_EQ(c.operations("ex2"), 8u + 64);
  EXPECT_EQ(c.operations("rcp"), 32u);
  EXPECT_EQ(c.flops("f16"), 2u * 16 * 8 * 16);
  EXPECT_EQ(c.instructions("mma.sync"), 1u);
  EXPECT_EQ(c.opcodes().at("ex2.approx.f32").lanes, 8u);
  EXPECT_EQ(value(c, "barriers.cta"), 1);
  EXPECT_EQ(value(c, "barriers.warp"), 1);
  EXPECT_EQ(value(c, "mma.instructions"), 1);
  EXPECT_EQ(value(c, "instructions.opcodes.st_global_u32"), 4);
  EXPECT_EQ(value(c, "instructions.categories.special"), 3);
}

TEST(Counters, broadcastsAreLanesThatShareWords) {
  Counters c = count("mov.u32 %r0, smem; and.b32 %r1, %tid, 7; "
                     "mad.lo.u32 %r1, %r1, 4, %r0; ld.shared.u32 %r2, [%r1];");
  EXPECT_EQ(c.shared(SharedKind::Load).broadcasts, 24u);
  EXPECT_EQ(c.shared(SharedKind::Load).wavefronts, 1u);
  EXPECT_EQ(value(c, "shared.load.broadcasts"), 24);
}

TEST(Counters, touchedBytesAreDistinctSectors) {
  Counters c = count("ld.global.u32 %r0, [%a0]; ld.global.u32 %r0, [%a2];");
  EXPECT_EQ(c.buffers().at("in").touchedBytes, 512u);
  EXPECT_EQ(value(c, "global.touched_bytes"), 1024);
  EXPECT_EQ(value(c, "global.buffers.in.loaded_lines"), 4 + 1 + 1);
}

TEST(Counters, loopsByTheLineOfTheirFirstInstruction) {
  // Three times four rounds; 'outer' begins at line 27, 'inner' at 29.
  Counters c = count(R"(mov.u32 %r0, 0;
    outer: mov.u32 %r1, 0;
    inner:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, 4;
    @%p0 bra inner;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p1, %r0, 3;
    @%p1 bra outer;)");
  ASSERT_EQ(c.loops().size(), 2u);
  const LoopCount &outer = c.loops().begin()->second;
  const LoopCount &inner = c.loops().rbegin()->second;
  EXPECT_EQ(c.loops().begin()->first, 27u);
  EXPECT_EQ(c.loops().rbegin()->first, 29u);
  EXPECT_EQ(outer.depth, 1u);
  EXPECT_EQ(inner.depth, 2u);
  EXPECT_EQ(outer.iterations, 3u);
  EXPECT_EQ(inner.iterations, 12u);
  EXPECT_EQ(inner.instructions, 36u);
  EXPECT_EQ(outer.instructions, 36u + 3 * 4);
  EXPECT_EQ(value(c, "loops.29.compare"), 12);
}

TEST(Counters, sourceLinesWhereLocGivesThem) {
  std::string text = wrap(".loc 1 7 0\nmov.u32 %r0, 0; mov.u32 %r1, 1;\n"
                          ".loc 1 9 0\nmov.u32 %r2, 2;\nret;\n");
  text.insert(text.find(".visible"), ".file 1 \"axpy.cu\"\n");
  auto module = Module::parse(text, "t.ptx");
  ASSERT_TRUE(module);
  Device device;
  Counters c;
  device.addObserver(c);
  uint64_t in = device.alloc(512, "in"), out = device.alloc(512, "out");
  ASSERT_TRUE(device
                  .launch(*module, "k", {{1}, {32}, {1}, 0},
                          {Argument::of(in), Argument::of(out)})
                  .ok());
  EXPECT_EQ(c.sourceLines().at("axpy.cu:7"), 2u);
  EXPECT_EQ(c.sourceLines().at("axpy.cu:9"), 2u);
  EXPECT_EQ(value(c, "instructions.source_lines.axpy_cu:7"), 2);
}

/// Of a kernel in Inputs whose only buffers are `in` and `out`.
Counters countInput(const char *file, const char *kernel, uint32_t threads,
                    bool hasInput) {
  Counters counters;
  auto module = Module::parse(readInput(file), file);
  EXPECT_TRUE(module);
  Device device;
  device.addObserver(counters);
  std::vector<uint8_t> zeros(512);
  std::vector<Argument> arguments;
  uint64_t in = device.alloc(512, "in", true);
  device.write(in, zeros.data(), 512);
  if (hasInput)
    arguments.push_back(Argument::of(in));
  arguments.push_back(Argument::of(device.alloc(2048, "out")));
  Report r =
      device.launch(*module, kernel, {{1}, {threads}, {1}, 0}, arguments);
  EXPECT_TRUE(r.ok()) << r.diagnostics.at(0).str();
  return counters;
}

TEST(Counters, bulkCopies) {
  Counters c = countInput("bulk-pipeline.ptx", "pipeline", 64, true);
  EXPECT_EQ(value(c, "async.bytes"), 5 * 128);
  EXPECT_EQ(value(c, "async.bulk_copies"), 5);
  EXPECT_EQ(value(c, "async.bulk_commits"), 1);
  EXPECT_EQ(value(c, "async.bulk_waits"), 1);
  EXPECT_EQ(c.shared(SharedKind::BulkWrite).wavefronts, 4u);
  EXPECT_EQ(c.shared(SharedKind::BulkRead).bytes, 128u);
  EXPECT_EQ(c.buffers().at("in").loaded.bytes, 512u);
  EXPECT_EQ(c.buffers().at("in").loaded.sectors, 16u);
  EXPECT_EQ(c.buffers().at("out").stored.bytes, 128u);
  EXPECT_EQ(c.buffers().at("in").touchedBytes, 512u);
  EXPECT_EQ(value(c, "barriers.mbarrier_arrivals"), 4 + 4);
}

TEST(Counters, wgmma) {
  Counters c = countInput("wgmma-rounds.ptx", "rounds", 128, false);
  EXPECT_EQ(c.flops("f16"), 2u * 2 * 64 * 8 * 16);
  EXPECT_EQ(value(c, "mma.types.f16.instructions"), 2);
  EXPECT_EQ(c.shared(SharedKind::Wgmma).bytes, 2u * (2048 + 256));
  EXPECT_EQ(c.shared(SharedKind::Wgmma).wavefronts, 2u * (16 + 2));
  EXPECT_EQ(value(c, "barriers.wgmma_waits"), 2 * 4);
}

TEST(Counters, jsonOpensAGroupAtADot) {
  EXPECT_EQ(
      countersJson({{"a", 1}, {"g.b", 2}, {"g.h.c", 3}, {"i.d", 0.5}}),
      "{\n  \"a\": 1,\n  \"g\": {\n    \"b\": 2,\n    \"h\": {\n"
      "      \"c\": 3\n    }\n  },\n  \"i\": {\n    \"d\": 0.5\n  }\n}\n");
}

TEST(Counters, sumsDoNotDependOnThreads) {
  auto module = Module::parse(wrap("bar.sync 0;"), "t.ptx");
  ASSERT_TRUE(module);
  std::string first;
  for (unsigned threads : {1u, 3u}) {
    DeviceOptions options;
    options.threads = threads;
    Device device(options);
    Counters counters;
    device.addObserver(counters);
    uint64_t a = device.alloc(512, "in"), b = device.alloc(512, "out");
    Report r = device.launch(*module, "k", {{50}, {32}, {1}, 0},
                             {Argument::of(a), Argument::of(b)});
    ASSERT_TRUE(r.ok());
    EXPECT_EQ(counters.loaded().bytes, 50u * 512);
    EXPECT_EQ(value(counters, "ctas"), 50);
    EXPECT_EQ(value(counters, "per_cta.least.loaded_bytes"), 512);
    EXPECT_EQ(value(counters, "per_cta.most.loaded_bytes"), 512);
    // Once each: a group that is opened twice is lost by JSON readers.
    std::string text = counters.json();
    for (const char *group : {"\"least\"", "\"most\"", "\"ctas_listed\""}) {
      EXPECT_NE(text.find(group), std::string::npos);
      EXPECT_EQ(text.find(group), text.rfind(group)) << group;
    }
    EXPECT_EQ(counters.ctaCounts().size(), 50u);
    EXPECT_EQ(counters.ctaCounts()[7].linear, 7u);
    EXPECT_EQ(value(counters, "warp_instructions"),
              double(r.counters.warpInstructions));
    if (first.empty())
      first = counters.json();
    EXPECT_EQ(counters.json(), first);
  }
}
} // namespace
