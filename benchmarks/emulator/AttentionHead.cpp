//===- AttentionHead.cpp - one head of attention --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is what the compiler makes for dynamic extents and D = 64, with
// the schedule that it picks; the time is that of the launch alone.
//
//===----------------------------------------------------------------------===//
#include "Clock.h"
#include "Figures.h"

#include "fa/Emulator/Checkers.h"
#include "fa/Emulator/Device.h"
#include "fa/Support/ExtentExpression.h"
#include "fa/Support/Package.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace bench;
namespace fs = std::filesystem;

namespace {
constexpr int64_t kLength = 1024, kHeadDim = 64;
constexpr unsigned kRuns = 15;

constexpr const char *kSource = R"(
!t = tensor<?x?x?x64xf16>
func.func @attention(%q: !t, %k: !t, %v: !t) -> !t {
  %o = fa.attention %q, %k, %v : !t, !t, !t -> !t
  return %o : !t
}
)";

std::string readFile(const fs::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Head {
  std::string ptx;
  farun::Entry entry;
};

/// What the compiler makes of kSource; nothing, and why, when it fails.
std::optional<Head> compile(const std::string &compiler, std::string &why) {
  std::string folder = fs::temp_directory_path() / "fa-bench-XXXXXX";
  if (!mkdtemp(folder.data())) {
    why = "no temporary folder";
    return std::nullopt;
  }
  fs::path source = fs::path(folder) / "head.mlir";
  std::ofstream(source) << kSource;
  std::string command = "'" + compiler + "' '" + source.string() +
                        "' --target=sm_80 -o '" + folder + "/head.ptx'";
  std::optional<Head> head;
  if (std::system(command.c_str()) != 0) {
    why = "the compiler failed";
  } else if (auto manifest = farun::parseManifest(
                 readFile(fs::path(folder) / "head.json"), "head.json");
             !manifest) {
    why = manifest.error().message;
  } else {
    head =
        Head{readFile(fs::path(folder) / "head.ptx"), manifest->entries.at(0)};
  }
  fs::remove_all(folder);
  return head;
}

/// f16 numbers in (-2, 2), the same in each run.
std::vector<uint16_t> numbers(uint32_t seed) {
  std::vector<uint16_t> result(size_t(kLength * kHeadDim));
  for (uint16_t &x : result) {
    seed = seed * 1664525 + 1013904223;
    x = uint16_t((seed >> 16 & 0x83FF) | (12 + (seed >> 12 & 3)) << 10);
  }
  return result;
}

class Launcher {
public:
  Launcher(const Head &head, unsigned threads)
      : head(head), device(options(threads)),
        module(ptxvm::Module::parse(head.ptx, "head.ptx")) {
    for (const farun::Operand &o : head.entry.operands) {
      bool isOut = o.kind == farun::OperandKind::Output;
      buffers.push_back(
          device.alloc(uint64_t(2 * kLength * kHeadDim), o.role, !isOut));
      auto data = numbers(uint32_t(buffers.size()));
      if (!isOut)
        device.write(buffers.back(), data.data(), 2 * data.size());
    }
  }

  /// False, with a message, when the kernel does not run or end well.
  bool run() {
    const farun::Launch &launch = head.entry.launches.at(0);
    std::vector<ptxvm::Argument> arguments;
    for (int index : launch.arguments)
      arguments.push_back(argument(head.entry.parameters.at(size_t(index))));
    farun::Extents extents = {{"B", 1},        {"Hq", 1},       {"Hkv", 1},
                              {"Sq", kLength}, {"Sk", kLength}, {"D", kHeadDim},
                              {"Dv", kHeadDim}};
    auto value = [&](const std::string &text) {
      auto number = farun::evaluateExtent(text, extents);
      return number ? uint32_t(*number) : 0;
    };
    ptxvm::LaunchShape shape{{value(launch.grid[0])},
                             {value(launch.block[0])},
                             {0, 0, 0},
                             value(launch.sharedBytes)};
    if (!module) {
      std::fprintf(stderr, "error: %s\n", module.error().str().c_str());
      return false;
    }
    auto report = device.launch(*module, launch.kernel, shape, arguments);
    if (!report.ok() && !report.diagnostics.empty())
      std::fprintf(stderr, "error: %s\n", report.diagnostics[0].str().c_str());
    return report.ok();
  }
  ptxvm::Device &dev() { return device; }

private:
  static ptxvm::DeviceOptions options(unsigned threads) {
    ptxvm::DeviceOptions o;
    o.threads = threads;
    return o;
  }
  ptxvm::Argument argument(const farun::Parameter &p) const {
    const int64_t extents[] = {1, 1, kLength, kHeadDim};
    const int64_t strides[] = {kLength * kHeadDim, kLength * kHeadDim, kHeadDim,
                               1};
    if (p.kind == farun::ParameterKind::Pointer)
      return ptxvm::Argument::of(buffers.at(size_t(p.operand)));
    bool isStride = p.kind == farun::ParameterKind::Stride;
    int64_t v = (isStride ? strides : extents)[p.dim & 3];
    if (p.type == "i32")
      return ptxvm::Argument::of(int32_t(v));
    return ptxvm::Argument::of(v);
  }

  const Head &head;
  ptxvm::Device device;
  ptxvm::Expected<ptxvm::Module> module;
  std::vector<uint64_t> buffers;
};

/// Wall time, in turns, so that other work disturbs both alike.
bool measureThreads(Figures &figures, const Head &head) {
  if (std::thread::hardware_concurrency() < 2) {
    figures.addMissing("time", "head, two threads", "one processor");
    return true;
  }
  Launcher one(head, 1), two(head, 2);
  double least[2] = {1e9, 1e9};
  for (unsigned n = 0; n < kRuns; ++n)
    for (unsigned k = 0; k < 2; ++k) {
      double start = wallSeconds();
      if (!(k ? two : one).run())
        return false;
      least[k] = std::min(least[k], wallSeconds() - start);
    }
  figures.add("time", "head, two threads", least[0] / least[1], "times as fast",
              {{}, 1.8}, "wall time; needs two idle processors");
  return true;
}
} // namespace

bool bench::measureHead(Figures &figures, const std::string &compiler) {
  std::string why;
  std::optional<Head> head;
  if (!fs::exists(compiler))
    why = "no " + compiler;
  else
    head = compile(compiler, why);
  if (!head) {
    for (const char *figure :
         {"head", "head, all checkers", "head, two threads"})
      figures.addMissing("time", figure, why);
    return true;
  }
  Launcher plain(*head, 1), checked(*head, 1);
  auto checkers = ptxvm::CheckerSet::parse("all");
  if (!checkers)
    return false;
  checkers->attach(checked.dev());
  bool isRight = true;
  double alone = leastSeconds(kRuns, [&] { isRight &= plain.run(); });
  double watched = leastSeconds(kRuns, [&] { isRight &= checked.run(); });
  if (!isRight)
    return false;
  figures.addTime("head", alone, 1e3, "ms", {25.0, {}},
                  "S = 1024, D = 64, no mask, checks off");
  figures.add("time", "head, all checkers", watched / alone, "times checks off",
              {4.0, {}}, "");
  return measureThreads(figures, *head);
}
