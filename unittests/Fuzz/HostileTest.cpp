//===- HostileTest.cpp - files and launches made to break the host --------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts of megabytes in which everything grows at once, and launches for which
// there is no memory: each gets its message, in time that grows with the text
// and in memory that the host has.
//
//===----------------------------------------------------------------------===//
#include "fa/Emulator/Device.h"
#include "fa/Emulator/ExecutionObserver.h"

#include <gtest/gtest.h>

#include <new>

using namespace ptxvm;

namespace {
const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";
constexpr size_t kLarge = 10'000'000;

std::string repeat(const std::string &text, size_t count) {
  std::string all;
  all.reserve(text.size() * count);
  for (size_t n = 0; n < count; ++n)
    all += text;
  return all;
}

/// `text` with the number in place of each '#', for numbers up to `count`.
std::string numbered(const std::string &text, size_t count) {
  std::string all;
  for (size_t n = 0; n < count; ++n)
    for (char c : text)
      if (c == '#')
        all += std::to_string(n);
      else
        all += c;
  return all;
}

/// The message of a file and its entry `k`; empty when both are right.
std::string messageOf(const std::string &text) {
  auto module = Module::parse(text, "hostile.ptx");
  auto problem = module ? module->prepare("k") : module.error();
  if (!problem)
    return "";
  EXPECT_GE(problem->location.line, 1u);
  EXPECT_LE(problem->message.size(), 2048u);
  return problem->message;
}

std::string entry(const std::string &body) {
  return kHead + ".entry k() {\n" + body + "\n}";
}

Report launch(const std::string &text, const LaunchShape &shape,
              DeviceOptions options = {},
              ExecutionObserver *observer = nullptr) {
  auto module = Module::parse(text, "hostile.ptx");
  if (!module)
    return {Status::Invalid, {module.error()}, {}};
  Device device(options);
  if (observer)
    device.addObserver(*observer);
  return device.launch(*module, "k", shape, {});
}

std::string firstMessage(const Report &report) {
  return report.diagnostics.empty() ? "" : report.diagnostics[0].message;
}

/// Has no memory left when CTA `fails` begins, or at its first instruction.
class Greedy : public ExecutionObserver {
public:
  Greedy(uint64_t fails, bool isLate) : fails(fails), isLate(isLate) {}

  std::string_view name() const override { return "greedy"; }
  uint32_t interests() const override { return kInstructions; }
  std::unique_ptr<CTAObserver> ctaBegin(const CTAEvent &event) override {
    if (event.linear != fails)
      return nullptr;
    if (!isLate)
      throw std::bad_alloc();
    struct Part : CTAObserver {
      void instructionIssued(const IssueEvent &) override {
        throw std::bad_alloc();
      }
    };
    return std::make_unique<Part>();
  }

private:
  uint64_t fails;
  bool isLate;
};
} // namespace

// A text that never ends: whatever repeats, the answer is one short message.
TEST(HostileText, HasAnAnswer) {
  struct {
    std::string text, message;
  } const cases[] = {
      {entry(repeat("{", kLarge)), "is not closed"},
      {entry(repeat("{", 300) + repeat("}", 300)), "nested more than 200 deep"},
      {entry(repeat("{}", 2'000'000)), "more than 1048576 scopes"},
      {entry("mov.u32 %r, " + repeat("(", kLarge)), "nested more than"},
      {entry("mov.u32 %r, " + repeat("-", kLarge)), "malformed number"},
      {entry("mov.u32 %r, " + repeat("1?", kLarge / 2)), "nested more than"},
      {entry("mov.u32 %r, " + repeat("{", 100'000)), "is not closed"},
      {entry("mov.u32 %r, " + repeat("[", kLarge)), "nested more than"},
      {entry("mov.u32 %r, " + repeat("9", kLarge) + ";"), "9 ... 9"},
      {entry("mov.u32 " + repeat("r", kLarge) + ", 1;"), "unknown register"},
      {entry(repeat("add.", kLarge / 4) + "u32 a, b, c;"), "unsupported"},
      {kHead + repeat(" ", kLarge) + "x", "expected a directive"},
      {kHead + "/*" + repeat("*", kLarge), "this comment is not closed"},
      {kHead + ".pragma \"" + repeat("a", kLarge), "string is not closed"},
      {kHead + ".global .b8 a" + repeat("[2]", 1000) + ";", "too large"},
      {kHead + ".global .b8 a[] = " + repeat("{", kLarge), "nested more"},
      {kHead + ".entry k(" + numbered(".param .b64 p#,", 100'000) + ") {}",
       "have more than 32764 bytes"},
      {kHead + std::string("\0\1\2\x7F\xFF", 5), "expected a directive"},
      {entry(std::string("\x1B[31m;")), "unexpected character '\\x1B'"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_NE(messageOf(text).find(message), std::string::npos)
        << message << "\nfound: " << messageOf(text);
}

// Large and right: work that grows with the square would take an hour.
TEST(HostileText, IsReadInLinearTime) {
  EXPECT_EQ(
      messageOf(kHead + numbered(".entry f#(){}\n", 200'000) + ".entry k(){}"),
      "");
  EXPECT_EQ(messageOf(entry(numbered("l#: bra l#;\n", 200'000))), "");
  // Each variable's initial value names the next one.
  constexpr size_t kChain = 200'000;
  std::string chain = kHead;
  for (size_t n = 0; n < kChain; ++n)
    chain += ".global .u64 a" + std::to_string(n) + " = a" +
             std::to_string((n + 1) % kChain) + ";\n";
  EXPECT_EQ(messageOf(chain + ".entry k() { .reg .b64 %r; mov.u64 %r, a0; }"),
            "");
  // Functions that are called by their address, each of which calls by address.
  constexpr size_t kFunctions = 20'000;
  std::string functions =
      kHead + numbered(".func f#() { .reg .b64 %r; p: .callprototype _ ();\n"
                       "call %r, p; }\n",
                       kFunctions);
  EXPECT_EQ(messageOf(functions + ".entry k() { .reg .b64 %r;\n" +
                      numbered("mov.u64 %r, f#;\n", kFunctions) + "}"),
            "");
}

// What one line multiplies by another has a limit.
TEST(HostileText, ProductsAreBounded) {
  std::string table = "t: .branchtargets l";
  table += repeat(",l", 100'000) + ";\n";
  EXPECT_NE(messageOf(entry(".reg .b32 %r; l:\n" + table +
                            repeat("brx.idx %r, t;\n", 1000)))
                .find("name more than 16777216 targets"),
            std::string::npos);
  EXPECT_NE(messageOf(kHead + ".func (" + numbered(".reg .b32 r#,", 1100) +
                      ".reg .b32 last) f() {\n" + repeat("ret;\n", 1000) +
                      "}\n.entry k() { .reg .b64 %r;\n" + "mov.u64 %r, f; }")
                .find("the kernel has more than 1048576 instructions"),
            std::string::npos);
  std::string frames = "p: .callprototype _ (";
  frames += repeat(".param .b8 _[1048576],", 5000) + ".param .b8 _[1]);\n";
  EXPECT_NE(messageOf(entry(".reg .b64 %r;\n" + frames + "call %r, p;"))
                .find("more than 268435456 bytes"),
            std::string::npos);
}

TEST(HostileText, TooLargeAFileIsRefused) {
  auto module =
      Module::parse(std::string((size_t(1) << 30) + 1, '\n'), "large.ptx");
  ASSERT_FALSE(module);
  EXPECT_NE(module.error().message.find("at most 1073741824 are allowed"),
            std::string::npos);
}

TEST(HostileText, AnEmptyInitialListHasNoBytes) {
  Report r = launch(kHead + ".global .b8 a[] = {};\n"
                            ".entry k() { .reg .b64 %r; mov.u64 %r, a; }",
                    {{1}, {32}});
  EXPECT_TRUE(r.ok()) << firstMessage(r);
}

TEST(HostileLaunch, VariablesBeyondMemoryAreRefused) {
  Report r = launch(kHead + ".global .b8 huge[1099511627776];\n"
                            ".entry k() { .reg .b64 %r; mov.u64 %r, huge; }",
                    {{1}, {32}});
  EXPECT_EQ(r.status, Status::Invalid);
  EXPECT_EQ(firstMessage(r), "'huge' has 1099511627776 bytes, more than this "
                             "machine's memory can hold");
  EXPECT_EQ(r.diagnostics.at(0).location.line, 4u);
  // Many that are small alone.
  r = launch(kHead + numbered(".global .b8 a#[1073741824];\n", 4096) +
                 ".entry k() { .reg .b64 %r;\n" +
                 numbered("mov.u64 %r, a#;\n", 4096) + "}",
             {{1}, {32}});
  EXPECT_EQ(r.status, Status::Invalid);
}

TEST(HostileLaunch, SharedAndLocalArraysHaveLimits) {
  Report r = launch(entry(".shared .b8 s[1000000]; .reg .b32 %r;\n"
                          "mov.u32 %r, s;"),
                    {{1}, {32}});
  EXPECT_EQ(firstMessage(r), "the CTA needs 1000000 bytes of shared memory; "
                             "there are 232448");
  r = launch(entry(".local .b8 l[1000000]; .reg .b32 %r; mov.u32 %r, l;"),
             {{1}, {32}});
  EXPECT_EQ(firstMessage(r), "'k' needs 1000000 bytes of local memory a "
                             "thread; there are 524288");
  r = launch(entry(".local .b8 a[1073741824]; .local .b8 b[1073741824];\n"
                   ".local .b8 c[1099511627776];"),
             {{1}, {32}});
  EXPECT_NE(firstMessage(r).find("more than its space can hold"),
            std::string::npos);
}

// The grid is the largest that there is; the memory is that of some CTAs.
TEST(HostileLaunch, TheLargestGridIsStoppedByTheLimit) {
  DeviceOptions options;
  options.threads = 2;
  options.maxInstructions = 100'000;
  Report r = launch(entry(".local .b8 l[1024]; .reg .b32 %r; mov.u32 %r, l;"),
                    {{0x7FFFFFFF, 65535, 65535}, {64}}, options);
  EXPECT_EQ(r.status, Status::InstructionLimit);
  EXPECT_LE(r.counters.ctas, 100'000u);
}

// An exception in a host thread ends neither the process nor the wait for the
// other threads.
TEST(HostileLaunch, LackOfMemoryWhileRunningIsReported) {
  for (unsigned threads : {1u, 4u})
    for (bool isLate : {false, true}) {
      DeviceOptions options;
      options.threads = threads;
      Greedy greedy(5, isLate);
      Report r = launch(entry("bar.sync 0;"), {{64}, {32}}, options, &greedy);
      EXPECT_EQ(r.status, Status::Invalid);
      ASSERT_FALSE(r.diagnostics.empty());
      EXPECT_EQ(r.diagnostics.back().message,
                "this machine has not enough memory to run kernel 'k'");
    }
}

TEST(HostileLaunch, LackOfMemoryLeavesTheOrderAsItWas) {
  DeviceOptions options;
  options.order = {OrderPolicy::Random, 1, 3};
  auto module = Module::parse(entry("ret;"), "hostile.ptx");
  ASSERT_TRUE(module);
  Device device(options);
  struct NoMemory : Greedy {
    NoMemory() : Greedy(0, false) {}
    void kernelBegin(const KernelEvent &) override { throw std::bad_alloc(); }
  } observer;
  device.addObserver(observer);
  Report r = device.launch(*module, "k", {{1}, {32}}, {});
  EXPECT_EQ(r.status, Status::Invalid);
  EXPECT_EQ(firstMessage(r),
            "this machine has not enough memory for this launch");
  EXPECT_EQ(device.options().order.lastSeed, 3u);
}

// Copies that nobody waits for are not kept for ever.
TEST(HostileLaunch, PendingCopiesAreBounded) {
  const std::string text = kHead + R"(
.global .align 16 .b8 from[16] = {1, 2, 3};
.global .align 4 .u32 seen[2];
.entry k() {
  .shared .align 16 .b8 s[32];
  .reg .b32 %n, %v; .reg .b64 %g; .reg .pred %p;
  mov.u64 %g, from;
  cp.async.ca.shared.global [s], [%g], 4;
  ld.shared.u32 %v, [s];
  st.global.u32 [seen], %v;
  mov.u32 %n, 0;
L: cp.async.ca.shared.global [s+16], [%g], 4;
  add.u32 %n, %n, 1;
  setp.lt.u32 %p, %n, 5000;
  @%p bra L;
  ld.shared.u32 %v, [s];
  st.global.u32 [seen+4], %v;
  setp.eq.u32 %p, %v, 0x30201;
  @!%p trap;
})";
  Report r = launch(text, {{1}, {1}});
  EXPECT_TRUE(r.ok()) << firstMessage(r);
}
