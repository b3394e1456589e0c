//===- CommandLine.cpp - fa-run and fa-launch -----------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options to a RunSpec, the result to lines. Results and verdicts go to
// stdout, errors to stderr; the exit code says which of the two to read.
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/CommandLine.h"

#include "fa/Runner/Report.h"
#include "fa/Support/Npy.h"
#include "fa/Support/OutputFile.h"
#include "fa/Support/Package.h"
#include "fa/Support/SpeedOfLight.h"
#include "fa/Support/Text.h"
#include "fa/Support/ToolOptions.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>
#include <set>

namespace farun {

namespace {

namespace fs = std::filesystem;

/// The command line as text, before anything is looked up.
struct Options {
  std::string file, entry, target, device = "auto", schedule;
  std::vector<std::string> inputs, dims, shapes;
  std::string outputFolder, stagesFolder, reportFile;
  std::optional<int64_t> traceRow;
  uint64_t seed = 0;
  bool check = false, noCheck = false;
  std::optional<uint64_t> bench;
  DeviceOptions deviceOptions;
};

void printError(const Error &error) {
  std::fflush(stdout); // in a pipe, what went before comes before
  std::fprintf(stderr, "%s\n", error.str().c_str());
}

int fail(const Error &error) {
  printError(error);
  return int(error.code);
}

/// Splits "A=B" at the first '='.
Expected<std::pair<std::string, std::string>>
splitPair(const std::string &text, const std::string &option,
          const char *form) {
  size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    return inputError(option + "=" + text + " is not of the form " + option +
                      "=" + form);
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Expected<int64_t> parseNumber(const std::string &text,
                              const std::string &option) {
  int64_t value = 0;
  auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return inputError(option + ": " + quote(text) + " is no whole number");
  return value;
}

Expected<int> parseIndex(const std::string &text, const std::string &option) {
  Expected<int64_t> value = parseNumber(text, option);
  if (!value)
    return value.takeError();
  if (*value < 0 || *value > 1000)
    return inputError(option + ": " + quote(text) + " is no argument's number");
  return int(*value);
}

Status readDims(const Options &options, RunSpec &spec) {
  for (const std::string &text : options.dims) {
    auto pair = splitPair(text, "--dim", "NAME=VALUE");
    if (!pair)
      return pair.takeError();
    Expected<int64_t> value = parseNumber(pair->second, "--dim=" + text);
    if (!value)
      return value.takeError();
    auto [known, isNew] = spec.dims.emplace(pair->first, *value);
    if (!isNew && known->second != *value)
      return inputError("--dim=" + pair->first + " is given twice, as " +
                        std::to_string(known->second) + " and " +
                        std::to_string(*value));
  }
  return {};
}

Status readShapes(const Options &options, RunSpec &spec) {
  for (const std::string &text : options.shapes) {
    auto pair = splitPair(text, "--shape", "N=2x8x100x64");
    if (!pair)
      return pair.takeError();
    Expected<int> index = parseIndex(pair->first, "--shape=" + text);
    if (!index)
      return index.takeError();
    std::vector<int64_t> shape;
    std::string rest = pair->second + "x";
    for (size_t at; (at = rest.find('x')) != std::string::npos;
         rest.erase(0, at + 1)) {
      Expected<int64_t> extent =
          parseNumber(rest.substr(0, at), "--shape=" + text);
      if (!extent)
        return extent.takeError();
      if (*extent < 0)
        return inputError("--shape=" + text + ": the extent " +
                          std::to_string(*extent) + " is negative");
      shape.push_back(*extent);
    }
    auto [known, isNew] = spec.shapes.emplace(*index, shape);
    if (!isNew && known->second != shape)
      return inputError("--shape=" + pair->first + " is given twice, as " +
                        shapeText(known->second) + " and " + shapeText(shape));
  }
  return {};
}

/// "out12.npy": a name that --output writes.
bool isResultFile(std::string_view name) {
  if (!name.starts_with("out") || !name.ends_with(".npy") || name.size() < 8)
    return false;
  std::string_view number = name.substr(3, name.size() - 7);
  return number.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What can be said of --input without the function that it is about.
Status checkInputs(const Options &options) {
  std::set<int> known;
  for (const std::string &text : options.inputs) {
    auto pair = splitPair(text, "--input", "N=FILE.npy");
    if (!pair)
      return pair.takeError();
    Expected<int> index = parseIndex(pair->first, "--input=" + text);
    if (!index)
      return index.takeError();
    if (!known.insert(*index).second)
      return inputError("--input=" + pair->first + " is given twice");
  }
  return {};
}

Status readInputs(const Options &options, const Entry &entry, RunSpec &spec) {
  for (const std::string &text : options.inputs) {
    // checkInputs() has passed.
    auto pair = splitPair(text, "--input", "N=FILE.npy");
    Expected<int> index = parseIndex(pair->first, "--input=" + text);
    bool isArgument =
        size_t(*index) < entry.operands.size() &&
        entry.operands[size_t(*index)].kind != OperandKind::Output;
    // Binding says it better, once every option is known.
    ElementType type =
        isArgument ? entry.operands[size_t(*index)].type : ElementType::F32;
    Expected<Array> array = isArgument ? readNpyAs(pair->second, type)
                                       : Expected<Array>(Array(type, {}));
    if (!array)
      return array.takeError();
    spec.inputs.emplace(*index, std::move(*array));
    spec.inputNames[*index] = "--input=" + text;
  }
  return {};
}

void printResult(const RunResult &result, const Options &options) {
  std::string extents;
  for (const auto &[name, value] : result.extents)
    extents += " " + name + "=" + std::to_string(value);
  std::printf("run: %s on %s for %s,%s\n", result.entry.c_str(),
              result.device.c_str(), result.target.c_str(), extents.c_str());
  for (const std::string &line : result.diagnostics)
    std::fprintf(stderr, "%s\n", line.c_str());
  for (const WithoutTensorMap &each : result.withoutTensorMap)
    std::printf("%s\n", each.str().c_str());
  for (const TraceBlock &block : result.trace)
    std::printf("%s\n", block.str().c_str());
  if (options.deviceOptions.countersFile == kStdout)
    for (const auto &[name, value] : result.counters)
      std::printf("counter: %s=%.15g\n", name.c_str(), value);
  if (const Chip *chip = findChip(options.deviceOptions.chip))
    std::fputs(speedOfLightTable(*chip, result.counters).c_str(), stdout);
  for (const Comparison &comparison : result.comparisons)
    std::printf("%s\n", comparison.str().c_str());
  if (result.timing)
    std::printf("%s\n", result.timing->str().c_str());
}

/// What only a compiler can do. Without one the help does not offer it, and
/// the message to a user who tries says why.
void declareCompilerOptions(CLI::App &app, Options &options, bool hasCompiler) {
  for (CLI::Option *option :
       {app.add_option(
            "--target", options.target,
            "target to compile for; default: what the device reports"),
        app.add_option("--schedule", options.schedule,
                       "KEY=V,...: override the compiler's schedule"),
        app.add_option("--dump-stages", options.stagesFolder,
                       "folder for the program after every stage")})
    if (!hasCompiler)
      option->group("");
}

/// Declares every option; the texts are the help.
void declareOptions(CLI::App &app, Options &options, bool hasCompiler) {
  app.add_option("FILE", options.file,
                 hasCompiler ? "FILE.mlir or a package NAME.fapkg"
                             : "a package NAME.fapkg");
  app.add_option("--entry", options.entry,
                 "the function to run; the only one by default");
  declareCompilerOptions(app, options, hasCompiler);
  app.add_option("--device", options.device,
                 "auto, emulator, cuda or reference; help lists them");
  app.add_option("--input", options.inputs,
                 "N=FILE.npy: argument N from a file; others are random")
      ->allow_extra_args(false);
  app.add_option("--dim", options.dims, "NAME=VALUE: an extent by role")
      ->allow_extra_args(false);
  app.add_option("--shape", options.shapes,
                 "N=2x8x100x64: extents of argument N")
      ->allow_extra_args(false);
  app.add_option("--seed", options.seed, "seed of random inputs")
      ->check(checkWholeNumber);
  app.add_option("--output", options.outputFolder,
                 "folder for out0.npy, out1.npy, ...");
  CLI::Option *check = app.add_flag("--check", options.check,
                                    "compare with the f64 oracle (default)");
  check->disable_flag_override();
  app.add_flag("--no-check", options.noCheck, "do not compare")
      ->disable_flag_override()
      ->excludes(check);
  app.add_option("--trace-state", options.traceRow,
                 "print m, l and u of a row after every K/V block");
  addDeviceOptions(app, options.deviceOptions);
  app.add_option("--report", options.reportFile,
                 "FILE.json: everything in one file");
  app.add_option("--bench", options.bench,
                 "warm-up and N timed runs; counts on the emulator")
      ->check(checkWholeNumber);
}

class Tool {
public:
  Tool(const Options &options, const DeviceRegistry &registry,
       const CompileFunction &compile)
      : options(options), registry(registry), compile(compile) {}

  int execute() {
    if (options.deviceOptions.sanitize == "help")
      return listCheckers();
    if (options.device == "help")
      return listDevices();
    if (options.file.empty())
      return fail(inputError("a file is needed: FILE.mlir or a package; "
                             "--help lists the options"));
    if (options.bench && *options.bench < 1)
      return fail(inputError("--bench=" + std::to_string(*options.bench) +
                             " is no number of runs; at least 1 is needed"));
    if (!options.reportFile.empty() &&
        fs::path(options.reportFile).extension() != ".json")
      return fail(
          inputError("--report=" + options.reportFile + " must end in .json"));
    if (Status status = expectOutputs(); !status)
      return fail(status.error());
    if (Status status = readOptions(); !status)
      return fail(status.error());
    Expected<std::unique_ptr<Device>> device =
        registry.open(options.device, options.deviceOptions);
    // A wrong option ends here; a missing device only after compiling.
    if (!device && device.error().code == ErrorCode::Input)
      return fail(device.error());
    if (device && options.bench && !(*device)->runsPTX())
      return fail(inputError("--bench is about how a kernel runs, and the "
                             "device " +
                             (*device)->name() + " runs none"));
    Expected<Program> program =
        obtainProgram(device ? (*device)->defaultTarget() : kDefaultTarget);
    if (!program)
      return fail(program.error());
    if (Status status = writeStages(*program); !status)
      return fail(status.error());
    if (!device) {
      std::printf("compiled for %s; not run\n",
                  program->manifest.target.c_str());
      return fail(device.error());
    }
    if (options.device == "auto") {
      std::string model = (*device)->model();
      std::printf("device: %s%s%s\n", (*device)->name().c_str(),
                  model.empty() ? "" : (", " + model).c_str(),
                  whyNotOthers((*device)->name()).c_str());
    }
    return runProgram(*program, **device);
  }

private:
  int listCheckers() const {
    for (const DeviceEntry &entry : registry.devices())
      for (const auto &[name, description] : entry.checkers)
        std::printf("%-24s %s\n", name.c_str(), description.c_str());
    return 0;
  }

  int listDevices() const {
    for (const DeviceEntry &entry : registry.devices()) {
      std::optional<std::string> reason = entry.whyUnavailable();
      std::string model = reason || !entry.model ? "" : entry.model();
      std::string state = reason
                              ? "not here: " + *reason
                              : "ready" + (model.empty() ? "" : ": " + model);
      std::printf("%-10s %s; %s\n", entry.name.c_str(),
                  entry.description.c_str(), state.c_str());
    }
    return 0;
  }

  std::string whyNotOthers(const std::string &chosen) const {
    std::string text;
    for (const DeviceEntry &entry : registry.devices())
      if (entry.preference > 0 && entry.name != chosen)
        if (std::optional<std::string> reason = entry.whyUnavailable())
          text += " (" + entry.name + ": " + *reason + ")";
    return text;
  }

  bool isPackage() const {
    std::error_code ignored;
    return fs::is_directory(options.file, ignored) ||
           fs::path(options.file).extension() == ".fapkg";
  }

  Expected<Program> obtainProgram(const std::string &defaultTarget) {
    if (isPackage()) {
      for (const auto &[option, value] :
           {std::pair("--schedule", options.schedule),
            std::pair("--dump-stages", options.stagesFolder),
            std::pair("--target", options.target)})
        if (!value.empty())
          return inputError(std::string(option) +
                            " needs the source: a package is compiled already");
      return loadPackage(options.file);
    }
    if (!compile)
      return inputError("is no package; this tool has no compiler",
                        {options.file, 0, 0});
    CompileRequest request;
    request.path = options.file;
    request.target = options.target.empty() ? defaultTarget : options.target;
    request.schedule = options.schedule;
    request.entry = options.entry;
    request.traceState = options.traceRow.has_value();
    request.keepStages = !options.stagesFolder.empty();
    auto start = std::chrono::steady_clock::now();
    Expected<Program> program = compile(request);
    compileSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return program;
  }

  /// All of the spec that needs no program, so that it costs no compilation.
  Status readOptions() {
    spec.entry = options.entry;
    spec.seed = options.seed;
    spec.check = !options.noCheck;
    spec.benchRuns = options.bench.value_or(0);
    spec.traceRow = options.traceRow;
    if (Status status = readDims(options, spec); !status)
      return status;
    if (Status status = readShapes(options, spec); !status)
      return status;
    return checkInputs(options);
  }

  int runProgram(const Program &program, Device &device) {
    Expected<const Entry *> entry = findEntry(program.manifest, options.entry);
    if (!entry)
      return fail(entry.error());
    if (Status status = readInputs(options, **entry, spec); !status)
      return fail(status.error());
    Expected<RunResult> result = run(program, spec, device);
    if (!result)
      return fail(result.error());
    printResult(*result, options);
    if (options.bench && !device.hasRealTime())
      std::printf("bench: the device %s counts and does not time; see "
                  "--counters\n",
                  device.name().c_str());
    if (Status status = writeFiles(*result); !status)
      return fail(status.error());
    // The reason of a stop is also a diagnostic; it is repeated as the last
    // word unless it was the only one.
    if (result->failure && result->diagnostics.empty())
      printError(*result->failure);
    Status closed = device.close();
    // After a fault a device fails at everything.
    if (closed || result->failure)
      return result->exitCode();
    printError(closed.error());
    return result->exitCode() ? result->exitCode() : int(closed.error().code);
  }

  /// The JSON file of --counters, empty without one.
  std::string countersFile() const {
    const std::string &file = options.deviceOptions.countersFile;
    return file == kStdout ? "" : file;
  }

  /// A wrong path ends here, before the work. Folders first: the files may lie
  /// in one.
  Status expectOutputs() {
    struct Folder {
      std::string option, path;
      bool (*writes)(std::string_view name);
    };
    for (const Folder &folder :
         {Folder{"--output=", options.outputFolder, isResultFile},
          Folder{"--dump-stages=", options.stagesFolder, isStageFile}})
      if (!folder.path.empty())
        if (Status status = outputs.expectFolder(
                folder.path, folder.option + folder.path, folder.writes);
            !status)
          return status;
    for (const auto &[option, file] :
         {std::pair("--counters=", countersFile()),
          std::pair("--report=", options.reportFile)})
      if (!file.empty())
        if (Status status = outputs.expectFile(file, option + file); !status)
          return status;
    return {};
  }

  /// At once: they are of use when the run fails.
  Status writeStages(const Program &program) const {
    if (options.stagesFolder.empty())
      return {};
    OutputFiles stages;
    if (Status status = stages.addFolder(options.stagesFolder, program.stages);
        !status)
      return status;
    return stages.commit();
  }

  /// All or none of them.
  Status writeFiles(const RunResult &result) {
    std::vector<std::pair<std::string, std::string>> arrays;
    for (const Array &array : result.outputs)
      arrays.push_back(
          {"out" + std::to_string(arrays.size()) + ".npy", npyText(array)});
    if (!options.outputFolder.empty() && !result.failure)
      if (Status status = outputs.addFolder(options.outputFolder, arrays);
          !status)
        return status;
    if (std::string file = countersFile(); !file.empty())
      if (Status status = outputs.addFile(file, countersJson(result)); !status)
        return status;
    if (!options.reportFile.empty()) {
      CompileFacts facts{options.file, compileSeconds};
      if (Status status =
              outputs.addFile(options.reportFile, reportJson(result, facts));
          !status)
        return status;
    }
    return outputs.commit();
  }

  const Options &options;
  const DeviceRegistry &registry;
  const CompileFunction &compile;
  OutputFiles outputs;
  RunSpec spec;
  double compileSeconds = 0;
};

} // namespace

static int parseAndRun(int argc, char **argv, const DeviceRegistry &registry,
                       const CompileFunction &compile) {
  Options options;
  CLI::App app("Runs compiled attention and checks it against the f64 oracle.");
  declareOptions(app, options, compile != nullptr);
  if (std::optional<int> code =
          parseCommandLine(app, argc, argv, {{"--bench", "10"}}))
    return *code;
  options.deviceOptions.counters =
      !options.deviceOptions.countersFile.empty() ||
      !options.deviceOptions.chip.empty() || !options.reportFile.empty();
  try {
    return Tool(options, registry, compile).execute();
  } catch (const std::bad_alloc &) {
    return fail(deviceError("out of memory"));
  } catch (const std::length_error &) {
    return fail(inputError("an array is too large for this machine"));
  }
}

int runTool(int argc, char **argv, const DeviceRegistry &registry,
            const CompileFunction &compile) {
  return finishOutput(parseAndRun(argc, argv, registry, compile));
}

} // namespace farun
