//===- Main.cpp - run a PTX file on the CPU -------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The front door of the PTX machine: one entry of one file, buffers from and to
// .npy files. Exit codes: 0 right, 1 an expectation failed, 2 the input is
// wrong, 4 the kernel was stopped.
//
//===----------------------------------------------------------------------===//
#include "Arguments.h"

#include "fa/Emulator/Counters.h"
#include "fa/Emulator/Setup.h"
#include "fa/Support/SpeedOfLight.h"
#include "fa/Support/ToolOptions.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>

using namespace ptxvm;

namespace {
struct Options {
  std::string file, entry, report;
  std::string grid, block, cluster; ///< empty: not given
  uint64_t shared = 0;
  std::vector<std::string> args;
  bool lists = false, checks = false;
  farun::DeviceOptions device;
};

int fail(const farun::Error &error) {
  std::fprintf(stderr, "%s\n", error.str().c_str());
  return 2;
}

int inputError(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return 2;
}

/// "X", "X,Y" or "X,Y,Z".
bool parseDim(const std::string &text, Dim3 &dim) {
  dim = Dim3();
  uint32_t *const parts[] = {&dim.x, &dim.y, &dim.z};
  size_t at = 0;
  for (uint32_t *part : parts) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string number = text.substr(at, end - at);
    bool isNumber = !number.empty() && number.size() < 11 &&
                    number.find_first_not_of("0123456789") == std::string::npos;
    unsigned long value = isNumber ? std::stoul(number) : 0;
    if (!value || value > 0xFFFFFFFFul)
      return false;
    *part = uint32_t(value);
    if (end == text.size())
      return true;
    at = end + 1;
  }
  return false;
}

int listCheckers() {
  for (const auto &[name, description] : describeCheckers())
    std::printf("%-24s %s\n", name.c_str(), description.c_str());
  return 0;
}

/// The JSON file of --counters, empty without one.
std::string countersFile(const Options &o) {
  const std::string &file = o.device.countersFile;
  return file == farun::kStdout ? "" : file;
}

/// The table of --chip, empty without one.
std::string speedOfLight(const Options &o, const Counters &counters) {
  const farun::Chip *chip = farun::findChip(o.device.chip);
  return chip ? farun::speedOfLightTable(*chip, counters.values()) : "";
}

/// --counters and --chip: lines to stdout, the file to `files`.
int writeCounters(const Options &o, const Counters &counters,
                  farun::OutputFiles &files) {
  if (o.device.countersFile == farun::kStdout)
    for (const auto &[name, value] : counters.values())
      std::printf("counter: %s=%.15g\n", name.c_str(), value);
  std::fputs(speedOfLight(o, counters).c_str(), stdout);
  std::string file = countersFile(o);
  if (file.empty())
    return 0;
  farun::Status status = files.addFile(file, counters.json());
  return status ? 0 : fail(status.error());
}

/// The extents of the launch; the exit code when one is wrong.
int parseShape(const Options &o, LaunchShape &shape) {
  uint32_t most = DeviceOptions().maxSharedBytes;
  if (o.shared > most)
    return inputError(
        "--smem=" + std::to_string(o.shared) +
        " is too many bytes of shared memory; accepted are 0 to " +
        std::to_string(most));
  shape.dynamicSharedBytes = uint32_t(o.shared);
  const std::pair<const char *, std::pair<const std::string *, Dim3 *>> dims[] =
      {{"--grid", {&o.grid, &shape.grid}},
       {"--block", {&o.block, &shape.block}},
       {"--cluster", {&o.cluster, &shape.cluster}}};
  for (const auto &[flag, d] : dims)
    if (!d.first->empty() && !parseDim(*d.first, *d.second))
      return inputError(std::string(flag) + "=" + *d.first +
                        ": expected X, X,Y or X,Y,Z, each at least 1");
  return 0;
}

/// "fill: u64 out, u32 value": one line for each entry.
int listEntries(const Module &module) {
  for (const std::string &name : module.kernels()) {
    std::string line = name + ":";
    const char *separator = " ";
    for (const KernelParameter &p : module.findKernel(name)->parameters) {
      line += separator + p.type;
      if (p.isArray)
        line += "[" + std::to_string(p.size) + " bytes]";
      line += " " + p.name;
      separator = ", ";
    }
    std::printf("%s\n", line.c_str());
  }
  return 0;
}

/// Decodes every entry; the first message of each that does not.
int checkEntries(const Module &module) {
  int code = 0;
  for (const std::string &name : module.kernels())
    if (auto problem = module.prepare(name)) {
      std::fprintf(stderr, "%s\n", problem->str().c_str());
      code = 2;
    }
  return code;
}

/// The entry to run; empty after a message.
std::string chooseEntry(const Options &o, const Module &module) {
  std::vector<std::string> kernels = module.kernels();
  bool isThere =
      std::find(kernels.begin(), kernels.end(), o.entry) != kernels.end();
  if (isThere || (o.entry.empty() && kernels.size() == 1))
    return isThere ? o.entry : kernels[0];
  std::string names;
  for (size_t n = 0; n < kernels.size() && n < 8; ++n)
    names += (n ? ", " : ": ") + kernels[n];
  if (kernels.size() > 8)
    names += ", ...; --list names all";
  inputError(o.entry.empty()
                 ? o.file + " has " + std::to_string(kernels.size()) +
                       " entries; choose one with --entry=NAME" + names
                 : "there is no entry '" + o.entry + "' in " + o.file + names);
  return "";
}

/// All that --report says.
farun::LaunchReport makeReport(const Options &o, const Module &module,
                               const std::string &entry,
                               const LaunchShape &shape, const Report &report,
                               const Counters &counters,
                               const Arguments &arguments, int code) {
  farun::LaunchReport r;
  r.file = o.file;
  r.entry = entry;
  r.target = module.target();
  r.grid = {shape.grid.x, shape.grid.y, shape.grid.z};
  r.block = {shape.block.x, shape.block.y, shape.block.z};
  r.cluster = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
  r.sharedBytes = shape.dynamicSharedBytes;
  r.arguments = o.args;
  r.exitCode = code;
  r.status = statusName(report.status);
  r.checks = arguments.checks();
  r.counters = counters.values();
  for (const Diagnostic &d : report.diagnostics)
    r.diagnostics.push_back(d.str());
  r.speedOfLight = speedOfLight(o, counters);
  r.seconds = report.counters.seconds;
  return r;
}

/// One launch from the options to the files.
class Run {
public:
  Run(const Options &o, const Module &module, std::string entry, Setup setup)
      : o(o), module(module), entry(std::move(entry)), setup(std::move(setup)),
        device(this->setup.device),
        arguments(*module.findKernel(this->entry), device, files) {
    this->setup.checkers.attach(device);
    device.setPrinter([](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
    });
    if (!o.device.countersFile.empty() || !o.device.chip.empty() ||
        !o.report.empty())
      device.addObserver(counters);
  }

  int execute(const LaunchShape &shape) {
    for (const auto &[flag, file] : {std::pair("--counters=", countersFile(o)),
                                     std::pair("--report=", o.report)})
      if (!file.empty())
        if (farun::Status status = files.expectFile(file, flag + file); !status)
          return fail(status.error());
    for (const std::string &text : o.args)
      if (auto problem = arguments.add(text))
        return inputError("--arg=" + text + ": " + *problem);
    if (auto problem = arguments.finishMaps())
      return inputError(*problem);
    Report report = device.launch(module, entry, shape, arguments.values());
    return finish(shape, report);
  }

private:
  /// What is left to do after the kernel: files, counters, the closing line.
  int finish(const LaunchShape &shape, const Report &report) {
    for (const Diagnostic &d : report.diagnostics)
      std::fprintf(stderr, "%s\n", d.str().c_str());
    int code = report.status == Status::Invalid ? 2
               : report.ok()                    ? arguments.finish()
                                                : 4;
    if (int wrong = writeCounters(o, counters, files))
      return wrong;
    if (!o.report.empty())
      if (farun::Status status = files.addFile(
              o.report, reportJson(makeReport(o, module, entry, shape, report,
                                              counters, arguments, code)));
          !status)
        return fail(status.error());
    // After 2 nothing ran, or a result found no place.
    if (farun::Status status = code == 2 ? farun::Status() : files.commit();
        !status)
      return fail(status.error());
    if (code == 0)
      std::printf("ok: %llu warp instructions, %llu CTAs\n",
                  (unsigned long long)report.counters.warpInstructions,
                  (unsigned long long)report.counters.ctas);
    return code;
  }

  const Options &o;
  const Module &module;
  std::string entry;
  Setup setup;
  Counters counters;
  Device device;
  farun::OutputFiles files;
  Arguments arguments;
};

int run(const Options &o) {
  LaunchShape shape;
  if (int wrong = parseShape(o, shape))
    return wrong;
  if (farun::Status status = farun::checkReadable(o.file); !status)
    return fail(status.error());
  auto module = Module::parseFile(o.file);
  if (!module) {
    std::fprintf(stderr, "%s\n", module.error().str().c_str());
    return 2;
  }
  if (o.lists)
    return listEntries(*module);
  if (o.checks)
    return checkEntries(*module);
  std::string entry = chooseEntry(o, *module);
  if (entry.empty())
    return 2;
  if (o.grid.empty())
    return inputError("--grid=X[,Y,Z] is needed: the CTAs to launch");
  if (o.block.empty())
    return inputError("--block=X[,Y,Z] is needed: the threads of a CTA");
  auto setup = makeSetup(o.device);
  if (!setup)
    return fail(setup.error());
  return Run(o, *module, entry, std::move(*setup)).execute(shape);
}
} // namespace

static int runTool(int argc, char **argv) {
  CLI::App app("Runs one entry of a PTX file on the CPU.", "fa-ptx-emu");
  Options o;
  app.add_option("FILE", o.file, "the PTX file");
  app.add_option("--entry", o.entry, "the entry; the only one by default");
  app.add_option("--grid", o.grid, "CTAs: X[,Y,Z]");
  app.add_option("--block", o.block, "threads of a CTA: X[,Y,Z]");
  app.add_option("--cluster", o.cluster, "CTAs of a cluster: X[,Y,Z]");
  app.add_option("--smem", o.shared, "bytes of dynamic shared memory")
      ->check(farun::checkWholeNumber);
  app.add_option("--arg", o.args,
                 "in:F.npy, out:F.npy:f32[2,64], inout:IN.npy:OUT.npy, "
                 "expect:F.npy[:TOL], i32:5, bytes:F.bin, "
                 "tensormap:K:box=64x64[:swizzle=128B], ...")
      ->allow_extra_args(false);
  app.add_option("--report", o.report, "a JSON file with all about the run");
  app.add_flag("--list", o.lists, "name the entries and their parameters");
  app.add_flag("--check", o.checks, "decode every entry and run none");
  farun::addDeviceOptions(app, o.device);
  if (std::optional<int> code = farun::parseCommandLine(app, argc, argv))
    return *code;
  if (o.device.sanitize == "help")
    return listCheckers();
  if (!o.report.empty() && !o.report.ends_with(".json"))
    return inputError("--report=" + o.report + " must end in .json");
  if (o.file.empty())
    return inputError("a PTX file is needed; --help lists the options");
  return run(o);
}

int main(int argc, char **argv) {
  try {
    return farun::finishOutput(runTool(argc, argv));
  } catch (const std::bad_alloc &) {
    return inputError("this machine has not enough memory for that");
  }
}
