//===- ProgramFuzz.cpp - random programs, decoded and run -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first bytes choose a launch and the machine's options, the others a
// program (ProgramGenerator.h), or after a leading '.' they are one. It runs
// under a limit of instructions and comes to an end with a status that its
// diagnostics explain. FA_FUZZ_PRINT=1 in the environment shows the program and
// what became of it.
//
//===----------------------------------------------------------------------===//
#include "ProgramGenerator.h"

#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Counters.h"
#include "fa/Emulator/Device.h"
#include "fa/Emulator/TensorMap.h"

#include <algorithm>

using namespace ptxvm;
using fafuzz::ByteSource;
using fafuzz::require;

namespace {
struct Plan {
  DeviceOptions options;
  LaunchShape shape;
  const char *sanitize = "all";
  bool counts = false;
  TensorMapShape tensor;
};
} // namespace

static Plan makePlan(ByteSource &bytes) {
  static constexpr uint32_t kBlocks[] = {32, 128, 64, 256, 33, 1, 160, 96};
  static constexpr uint64_t kLimits[] = {1000, 300, 4000};
  static constexpr const char *kCheckers[] = {"all", "all", "none", ""};
  Plan p;
  p.shape.block.x = bytes.pick(kBlocks);
  p.shape.grid.x = 1 + bytes.below(4);
  uint32_t cluster = bytes.below(3);
  p.shape.cluster = cluster ? Dim3{cluster, 1, 1} : Dim3{0, 0, 0};
  if (cluster == 2)
    p.shape.grid.x += p.shape.grid.x & 1;
  p.shape.dynamicSharedBytes = 512 * bytes.below(5);
  p.options.threads = 1 + bytes.below(2);
  p.options.order = {OrderPolicy::Kind(bytes.below(3)), bytes.below(8), 0};
  if (p.options.order.kind == OrderPolicy::Random && bytes.oneIn(8))
    p.options.order.lastSeed = p.options.order.seed + 1;
  p.options.maxInstructions = bytes.pick(kLimits);
  p.options.lateCompletion = !bytes.oneIn(4);
  p.options.tensorModel = TensorModel(bytes.below(3));
  p.options.maxResidentCTAs = bytes.oneIn(8) ? 1 : 1024;
  p.sanitize = bytes.pick(kCheckers);
  p.counts = bytes.oneIn(2);
  p.tensor.type = TensorType(bytes.below(uint32_t(TensorType::Count)));
  p.tensor.rank = 2;
  uint32_t element = elementBytes(p.tensor.type);
  p.tensor.dims = {8, 1 + bytes.below(16)};
  p.tensor.strides = {std::max(16u, 8 * element)};
  p.tensor.box = {std::max(1u, 16 / element), 1 + bytes.below(16)};
  p.tensor.swizzle = TensorSwizzle(bytes.below(4));
  p.tensor.fill = TensorFill(bytes.below(2));
  return p;
}

static bool isVerbose() { return std::getenv("FA_FUZZ_PRINT") != nullptr; }

/// Takes a line out; false when there is no such line.
static bool dropLine(std::string &text, unsigned number) {
  size_t at = 0;
  for (unsigned n = 1; n < number; ++n) {
    at = text.find('\n', at);
    if (at++ == std::string::npos)
      return false;
  }
  size_t end = std::min(text.find('\n', at), text.size());
  if (end == at)
    return false;
  // The numbers of the other lines stay.
  text.erase(at, end - at);
  return true;
}

/// A module without the statements that the machine refuses.
static std::optional<Module> acceptable(std::string &text) {
  constexpr unsigned kMost = 100;
  for (unsigned tries = 0; tries < kMost; ++tries) {
    auto module = Module::parse(text, "fuzz.ptx");
    auto problem = module ? module->prepare("k") : module.error();
    if (!problem)
      return *module;
    require(!problem->message.empty() && !problem->location.file.empty(),
            "an error without a message or a place: " + problem->str());
    if (isVerbose())
      std::fprintf(stderr, "%s\n", problem->str().c_str());
    if (!dropLine(text, problem->location.line))
      return std::nullopt;
  }
  return std::nullopt;
}

static void run(const Module &module, Plan &p) {
  constexpr size_t kBytes = 4096;
  Device device(p.options);
  auto checkers = CheckerSet::parse(p.sanitize);
  require(bool(checkers), "unknown checkers");
  checkers->attach(device);
  Counters counters;
  if (p.counts)
    device.addObserver(counters);
  size_t printed = 0;
  device.setPrinter([&](std::string_view s) { printed += s.size(); });
  uint64_t input = device.alloc(kBytes, "input", true);
  uint64_t output = device.alloc(kBytes, "output");
  std::vector<uint8_t> bytes(kBytes);
  for (size_t n = 0; n < kBytes; ++n)
    bytes[n] = uint8_t(n * 37 >> 3);
  device.write(input, bytes.data(), kBytes);
  device.write(output, bytes.data(), kBytes / 2);
  p.tensor.address = output;
  auto map = encodeTiled(p.tensor);
  std::vector<Argument> arguments = {Argument::of(input), Argument::of(output),
                                     Argument::of(map ? *map : TensorMap()),
                                     Argument::of(uint32_t(kBytes))};
  const KernelSignature &s = *module.findKernel("k");
  arguments.resize(s.parameters.size());
  for (size_t n = 0; n < arguments.size(); ++n)
    arguments[n].bytes.resize(s.parameters[n].size);
  Report report = device.launch(module, "k", p.shape, arguments);
  require(report.ok() || !report.diagnostics.empty(),
          "a launch that failed and does not say why");
  require(report.diagnostics.size() <= p.options.maxDiagnostics,
          "more diagnostics than were asked for");
  for (const Diagnostic &d : report.diagnostics) {
    require(!d.message.empty() && !d.origin.empty(), "an empty diagnostic");
    if (isVerbose())
      std::fprintf(stderr, "%s\n", d.str().c_str());
  }
  if (p.counts)
    require(!counters.json().empty(), "no counters");
  if (isVerbose())
    std::fprintf(stderr, "status %s, %llu instructions, %zu bytes printed\n",
                 statusName(report.status),
                 (unsigned long long)report.counters.warpInstructions, printed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ByteSource bytes(data, size);
  // A file of the corpus that a person can read: text, after no plan at all.
  bool isText = size && data[0] == '.';
  ByteSource none(nullptr, 0);
  Plan plan = makePlan(isText ? none : bytes);
  if (isText) {
    plan.shape.block.x = 128;
    plan.shape.grid.x = 2;
    plan.counts = true;
  }
  std::string text =
      isText ? std::string(reinterpret_cast<const char *>(data), size)
             : fafuzz::generateProgram(bytes);
  if (!isText && text.find(".target sm_8") != std::string::npos)
    plan.shape.cluster = {0, 0, 0};
  if (isVerbose())
    std::fprintf(stderr, "%s", text.c_str());
  std::optional<Module> module = acceptable(text);
  if (isVerbose() && !module)
    std::fprintf(stderr, "not accepted\n");
  if (module && module->findKernel("k"))
    run(*module, plan);
  return 0;
}
