//===- Launch.cpp - launches on arrays, and what they came to -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DeviceArrays.h"
#include "Library.h"

#include "fa/Runner/Report.h"

#include <charconv>

namespace facapi {

namespace {

/// Whole numbers alone: no sign, nothing behind.
template <typename T> bool parseWhole(const std::string &text, T &value) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() &&
         !text.empty();
}

Outcome setOption(const farun::DeviceOption &option, const std::string &name,
                  const std::string &value, farun::DeviceOptions &options) {
  bool isRight = std::visit(
      [&](auto member) {
        using Value = std::decay_t<decltype(options.*member)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          options.*member = value;
          return true;
        } else {
          return parseWhole(value, options.*member);
        }
      },
      option.value);
  if (isRight)
    return std::nullopt;
  return inputFailure(
      "the option " + name + "=" + value + " needs a whole number", name);
}

/// "sanitize=all", "--threads=2", "counters".
Outcome readOption(const char *given, farun::DeviceOptions &options) {
  if (!given)
    return inputFailure("an option is null", "options");
  std::string text = given;
  if (text.starts_with("--"))
    text = text.substr(2);
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals), known;
  for (const farun::DeviceOption &option : farun::deviceOptionTable()) {
    known += (known.empty() ? "" : ", ") + std::string(option.name + 2);
    if (name != option.name + 2)
      continue;
    if (equals == std::string::npos && !option.alone)
      return inputFailure("the option " + name + " needs a value", name);
    std::string value =
        equals == std::string::npos ? option.alone : text.substr(equals + 1);
    return setOption(option, name, value, options);
  }
  return inputFailure(
      "the option '" + name + "' is unknown; accepted are " + known, "options");
}

Outcome readOptions(const fa_launch_options &given, std::string &text,
                    farun::DeviceOptions &options) {
  if (given.option_count && !given.options)
    return inputFailure("the options are null", "options");
  for (size_t n = 0; n < given.option_count; ++n) {
    if (Outcome failure = readOption(given.options[n], options))
      return failure;
    text += std::string(text.empty() ? "" : " ") + given.options[n];
  }
  if (!options.countersFile.empty() && options.countersFile != farun::kStdout)
    return inputFailure("counters=" + options.countersFile +
                            ": a file is written by the tools alone; give "
                            "'counters' and ask fa_run_counters()",
                        "counters");
  if (options.sanitize == "help")
    return inputFailure("sanitize=help: fa_devices() lists the checkers",
                        "sanitize");
  options.counters = !options.countersFile.empty() || !options.chip.empty();
  return std::nullopt;
}

/// A device of a kernel for one launch. It is given back when it came to a
/// clean end; after a fault a new one is opened.
class BorrowedDevice {
public:
  BorrowedDevice(const KernelObject &kernel, std::string name,
                 std::string options)
      : kernel(kernel), name(std::move(name)), options(std::move(options)) {}
  ~BorrowedDevice() {
    if (!device)
      return;
    device->setProgress({});
    if (!isClean)
      return;
    try {
      kernel.giveDevice(name, options, std::move(device));
    } catch (...) {
      // Without memory there is one device less.
    }
  }

  Outcome open(const farun::DeviceOptions &parsed) {
    device = kernel.takeDevice(name, options);
    isLoaded = device != nullptr;
    if (isLoaded)
      return std::nullopt;
    farun::Expected<std::unique_ptr<farun::Device>> opened =
        devices().open(name, parsed);
    if (!opened)
      return toFailure(opened.error(),
                       opened.error().code == farun::ErrorCode::Device ||
                               options.empty()
                           ? "device"
                           : "options");
    device = std::move(*opened);
    return std::nullopt;
  }

  const KernelObject &kernel;
  std::string name, options;
  std::unique_ptr<farun::Device> device;
  bool isLoaded = false; ///< with the program, by a launch before
  bool isClean = false;
};

/// One launch in steps.
struct Launcher {
  const KernelObject &kernel;
  const EntryView &view;
  const fa_launch_options &options;
  CallArrays arrays;
  bool isCancelled = false;

  Outcome run(fa_run **handle);
  Outcome checkPlaces() const;
  farun::Expected<farun::RunResult> runOn(BorrowedDevice &borrowed, bool wait);
  farun::RunSpec makeSpec(bool isLoaded) const;
  bool isInPlace() const { return arrays.findOnDevice() < arrays.size(); }
  Outcome failureOf(const farun::RunResult &result) const;
};

farun::RunSpec Launcher::makeSpec(bool isLoaded) const {
  farun::RunSpec spec;
  spec.isLoaded = isLoaded;
  spec.entry = view.entry->name;
  spec.check = options.check;
  if (options.trace)
    spec.traceRow = options.trace_row;
  std::vector<farun::Array> dense = arrays.gatherInputs(*view.entry);
  for (size_t n = 0; n < arrays.inputs.size(); ++n)
    spec.inputs.emplace(int(n), std::move(dense[n]));
  return spec;
}

/// What is only for arrays in host memory, or only for others.
Outcome Launcher::checkPlaces() const {
  if (Outcome failure = checkOnePlace(view, arrays))
    return failure;
  if (!isInPlace() && options.stream)
    return inputFailure("a stream is for arrays in device memory, and these "
                        "lie in host memory",
                        "stream");
  if (isInPlace() && (options.check || options.trace))
    return inputFailure(
        std::string(options.check ? "check" : "trace") +
            " is for arrays in host memory, and these lie in device memory",
        options.check ? "check" : "trace");
  return std::nullopt;
}

farun::Expected<farun::RunResult> Launcher::runOn(BorrowedDevice &borrowed,
                                                  bool wait) {
  if (!isInPlace())
    return farun::run(kernel.program, makeSpec(borrowed.isLoaded),
                      *borrowed.device);
  farun::InPlaceSpec spec = toInPlace(view, arrays);
  spec.stream = options.stream;
  spec.wait = wait;
  spec.isLoaded = borrowed.isLoaded;
  return farun::runInPlace(kernel.program, spec, *borrowed.device);
}

Outcome Launcher::failureOf(const farun::RunResult &result) const {
  if (!result.failure)
    return std::nullopt;
  Failure failure = toFailure(*result.failure,
                              findBlamed(*view.entry, result.failure->message));
  failure.diagnostics = result.diagnostics;
  return failure;
}

Outcome Launcher::run(fa_run **handle) {
  farun::DeviceOptions parsed;
  std::string optionText;
  if (Outcome failure = readOptions(options, optionText, parsed))
    return failure;
  if (Outcome failure = checkPlaces())
    return failure;
  BorrowedDevice borrowed(kernel, options.device ? options.device : "auto",
                          optionText);
  if (Outcome failure = borrowed.open(parsed))
    return failure;
  if (Outcome failure = checkOnDevice(view, arrays, *borrowed.device))
    return failure;
  if (options.progress)
    borrowed.device->setProgress([&](uint64_t done, uint64_t total) {
      isCancelled |= options.progress(options.progress_data, done, total) != 0;
      return !isCancelled;
    });
  farun::Expected<farun::RunResult> result = runOn(borrowed, handle != nullptr);
  if (isCancelled)
    return Failure(FA_ERROR_CANCELLED, "the launch was cancelled", "progress");
  if (!result)
    return toFailure(result.error(),
                     findBlamed(*view.entry, result.error().message));
  if (Outcome failure = failureOf(*result))
    return failure;
  borrowed.isClean = true;
  for (size_t n = 0; n < result->outputs.size(); ++n)
    scatter(result->outputs[n], arrays.results[n]);
  if (handle) {
    result->outputs.clear();
    *handle = static_cast<fa_run *>(insertHandle(
        Kind::Run, std::make_shared<RunObject>(std::move(*result))));
  }
  return std::nullopt;
}

} // namespace

const std::string &RunObject::report() const {
  std::call_once(reportOnce, [&] { reportText = farun::reportJson(result); });
  return reportText;
}

const std::string &RunObject::counters() const {
  std::call_once(countersOnce,
                 [&] { countersText = farun::countersJson(result); });
  return countersText;
}

void toComparison(const farun::Comparison &from, fa_comparison &to) {
  to.ok = from.ok;
  to.max_error = from.maxError;
  to.bound = from.bound;
  to.found = from.found;
  to.expected = from.expected;
  to.rank = int32_t(from.at.size());
  for (size_t d = 0; d < from.at.size() && d < std::size(to.at); ++d)
    to.at[d] = from.at[d];
  to.wrong = from.wrong;
  to.count = from.count;
  size_t length = std::min(from.problem.size(), sizeof(to.problem) - 1);
  std::memcpy(to.problem, from.problem.data(), length);
}

/// Calls `body` with the object of a run.
template <typename Body>
static fa_status askRun(const fa_run *run, fa_error **error, Body body) {
  return call(error, [&]() -> Outcome {
    Outcome failure;
    auto object = get<RunObject>(Kind::Run, run, failure);
    return object ? body(*object) : failure;
  });
}

} // namespace facapi

using namespace facapi;

fa_status fa_kernel_launch(const fa_kernel *kernel, const char *entry,
                           const fa_array *inputs, size_t input_count,
                           const fa_array *results, size_t result_count,
                           const fa_launch_options *given, fa_run **run,
                           fa_error **error) {
  return call(error, [&]() -> Outcome {
    if (run)
      *run = nullptr;
    Outcome failure;
    auto object = get<KernelObject>(Kind::Kernel, kernel, failure);
    if (!object)
      return failure;
    fa_launch_options options;
    if ((failure = readStruct(given, "fa_launch_options",
                              sizeof(fa_launch_options), options)))
      return failure;
    if ((failure = beginWork()))
      return failure;
    const EntryView *view = nullptr;
    if ((failure = object->findEntry(entry, view)))
      return failure;
    Launcher launcher{*object, *view, options, {}};
    if ((failure = launcher.arrays.read(*view, inputs, input_count, results,
                                        result_count, /*exact=*/true)))
      return failure;
    return launcher.run(run);
  });
}

fa_status fa_run_report(const fa_run *run, const char **json,
                        fa_error **error) {
  return askRun(run, error, [&](const RunObject &object) -> Outcome {
    if (Outcome failure = checkPlace(json, "json"))
      return failure;
    *json = object.report().c_str();
    return std::nullopt;
  });
}

fa_status fa_run_counters(const fa_run *run, const char **json,
                          fa_error **error) {
  return askRun(run, error, [&](const RunObject &object) -> Outcome {
    if (Outcome failure = checkPlace(json, "json"))
      return failure;
    *json = object.counters().c_str();
    return std::nullopt;
  });
}

fa_status fa_run_comparison(const fa_run *run, size_t index,
                            fa_comparison *comparison, fa_error **error) {
  return askRun(run, error, [&](const RunObject &object) -> Outcome {
    const auto &comparisons = object.result.comparisons;
    size_t count = comparisons.size();
    if (index >= count)
      return inputFailure(
          "comparison " + std::to_string(index) + " is none of " +
              std::to_string(count) +
              (count ? ", counted from 0" : "; the launch was not to check"),
          "index");
    fa_comparison filled = {};
    toComparison(comparisons[index], filled);
    return writeStruct(comparison, "fa_comparison", sizeof(fa_comparison),
                       filled);
  });
}

fa_status fa_run_free(fa_run *run) {
  return !run || eraseHandle(Kind::Run, run) ? FA_OK : FA_ERROR_HANDLE;
}
