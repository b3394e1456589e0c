//===- Runner.cpp - one checked run ---------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The run in steps: extents, inputs, the problem for the oracle (which also
// checks that the operands fit), buffers, launches, results, verdicts.
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Runner.h"

#include "DeviceBuffer.h"
#include "LaunchAll.h"

#include "fa/Reference/Attention.h"
#include "fa/Runner/InputGenerator.h"
#include "fa/Runner/Oracle.h"
#include "fa/Support/HostMemory.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace farun {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string shortest(float value) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end.ptr);
}

std::string gibibytes(double bytes) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.1f GiB", bytes / 0x1p30);
  return buffer;
}

class Run {
public:
  Run(const Program &program, const RunSpec &spec, Device &device,
      const Entry &entry)
      : program(program), spec(spec), device(device), entry(entry) {}

  Expected<RunResult> execute() {
    for (Status (Run::*step)() :
         {&Run::prepare, &Run::runDevice, &Run::check, &Run::bench})
      if (Status status = (this->*step)(); !status)
        return status.takeError();
    return std::move(result);
  }

private:
  Status prepare();
  Status runDevice();
  Status check();
  Status bench();
  Status makeBuffers();
  Status launchOnce();
  Status findDamage();
  Status collectOutputs();
  Status collectTrace();
  Status checkMemory() const;
  Status checkTraceRequest() const;
  void computeTraffic();

  bool isOutput(size_t n) const {
    return entry.operands[n].kind == OperandKind::Output;
  }
  /// Is there anything that only the oracle's problem can give?
  bool needsProblem() const { return spec.check || !device.runsPTX(); }

  const Program &program;
  const RunSpec &spec;
  Device &device;
  const Entry &entry;

  Binding binding;
  std::vector<Array> arrays; ///< by operand; outputs are results
  std::optional<faref::Problem> problem;
  std::map<int, Expectation> expected;
  std::vector<DeviceBuffer> buffers; ///< by operand
  DeviceOperands memory;
  std::optional<DeviceBuffer> workspace, trace;
  RunResult result;
};

Status Run::prepare() {
  Expected<Binding> bound = bindExtents(entry, spec);
  if (!bound)
    return bound.takeError();
  binding = std::move(*bound);
  for (const auto &[n, strides] : spec.strides) {
    if (n < 0 || size_t(n) >= entry.operands.size())
      return inputError("strides are given for operand " + std::to_string(n) +
                        ", and " + entry.name + " has " +
                        std::to_string(entry.operands.size()));
    if (Status status =
            checkStrides(entry, size_t(n), binding.shapes[size_t(n)], strides);
        !status)
      return status;
  }
  if (Status status = checkMemory(); !status)
    return status;
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    auto given = spec.inputs.find(int(n));
    if (isOutput(n)) {
      arrays.push_back(Array(entry.operands[n].type, binding.shapes[n]));
    } else if (given != spec.inputs.end()) {
      if (given->second.type != entry.operands[n].type)
        return inputError(describeOperand(entry, int(n)) + " has type " +
                          std::string(name(entry.operands[n].type)) +
                          ", found " + std::string(name(given->second.type)));
      arrays.push_back(given->second);
    } else {
      Expected<Array> random = generateInput(entry, int(n), binding, spec.seed);
      if (!random)
        return random.takeError();
      arrays.push_back(std::move(*random));
    }
    auto by = spec.inputNames.find(int(n));
    if (Status status = checkScale(
            entry, n, arrays[n], by == spec.inputNames.end() ? "" : by->second);
        !status)
      return status;
  }
  // What the oracle knows is also what can be checked before a launch: heads,
  // lengths, broadcasts.
  if (oracleKnows(entry) || needsProblem()) {
    Expected<faref::Problem> made = makeProblem(entry, arrays);
    if (!made)
      return made.takeError();
    problem = std::move(*made);
  }
  result = describeRun(program, entry, binding, device);
  result.seed = spec.seed;
  computeTraffic();
  return checkTraceRequest();
}

/// What cannot fit is refused at once, and not after minutes of filling it.
Status Run::checkMemory() const {
  double bytes = 0;
  for (size_t n = 0; n < entry.operands.size(); ++n)
    bytes += double(elementCount(binding.shapes[n])) *
             double(byteSize(entry.operands[n].type));
  std::string what = "the operands and results";
  Expected<int64_t> workspaceBytes =
      evaluateExtent(entry.workspaceBytes, binding.extents);
  if (!workspaceBytes)
    return inputError("the workspace: " + workspaceBytes.error().message);
  if (*workspaceBytes < 0)
    return inputError("the workspace of " + entry.name + " needs " +
                      std::to_string(*workspaceBytes) + " bytes ('" +
                      entry.workspaceBytes + "')");
  if (*workspaceBytes > 0)
    what = "the operands, results and workspace";
  bytes += double(*workspaceBytes);
  // A device on the host holds all of it once more.
  double available = double(hostMemoryBudget());
  if (bytes <= available)
    return {};
  std::string extents;
  for (const auto &[name, value] : binding.extents)
    extents += " " + name + "=" + std::to_string(value);
  return inputError(what + " of " + entry.name + " need " + gibibytes(bytes) +
                    " with" + extents + "; this machine holds up to " +
                    gibibytes(available));
}

Status Run::checkTraceRequest() const {
  if (!spec.traceRow)
    return {};
  if (!device.runsPTX())
    return inputError("the state of a row is traced in a kernel, and the "
                      "device " +
                      device.name() + " runs none");
  bool hasTrace = false;
  for (const Parameter &parameter : entry.parameters)
    hasTrace |= parameter.kind == ParameterKind::Trace;
  if (!hasTrace)
    return inputError("the state of a row cannot be traced: " + entry.name +
                      " was compiled without its trace");
  int64_t rows = 1;
  for (const char *extent : {"B", "Hq", "Sq"}) {
    auto found = binding.extents.find(extent);
    rows *= found == binding.extents.end() ? 1 : found->second;
  }
  if (*spec.traceRow < 0 || *spec.traceRow >= rows)
    return inputError("the row to trace, " + std::to_string(*spec.traceRow) +
                      ", is none of " + std::to_string(rows) +
                      ", counted from 0");
  return {};
}

/// Bytes that attention must move, and those of the form that stores S and P.
void Run::computeTraffic() {
  if (!problem)
    return;
  auto extent = [&](const char *name) {
    auto found = binding.extents.find(name);
    return found == binding.extents.end() ? 0.0 : double(found->second);
  };
  const Schedule &schedule = entry.attention.schedule;
  double rowBytes = 0, once = 0, keysValues = 0;
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    const Operand &operand = entry.operands[n];
    double bytes = double(elementCount(binding.shapes[n])) *
                   double(byteSize(operand.type));
    bool isKey = operand.hasRole("key"), isValue = operand.hasRole("value");
    if (isKey || isValue)
      keysValues += bytes;
    // Where one array is both, a block of it is read once.
    if (isKey || isValue)
      rowBytes += double(byteSize(operand.type)) * extent(isKey ? "D" : "Dv");
    if (!(isKey || isValue) || operand.hasRole("query"))
      once += bytes;
  }
  if (schedule.tileQ > 0 && schedule.tileKV > 0)
    result.traffic.bound =
        once + rowBytes * double(faref::neededKeyRows(*problem, schedule.tileQ,
                                                      schedule.tileKV));
  double scores = extent("B") * extent("Hq") * extent("Sq") * extent("Sk") *
                  double(byteSize(problem->query.type));
  result.traffic.naive = once + keysValues + 4 * scores;
  result.traffic.naiveStored = scores;
}

Status Run::makeBuffers() {
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    const Operand &operand = entry.operands[n];
    auto strides = spec.strides.find(int(n));
    memory.images.push_back(MemoryImage::create(binding.shapes[n],
                                                strides == spec.strides.end()
                                                    ? std::vector<int64_t>()
                                                    : strides->second,
                                                operand.type));
    const MemoryImage &image = memory.images.back();
    Expected<DeviceBuffer> buffer = DeviceBuffer::create(
        device, image.bytes, operand.roleText(),
        isOutput(n) ? BufferAccess::ReadWrite : BufferAccess::ReadOnly);
    if (!buffer)
      return buffer.takeError();
    if (!isOutput(n))
      if (Status status = buffer->write(packImage(arrays[n], image)); !status)
        return status;
    memory.addresses.push_back(buffer->address() +
                               uint64_t(image.base) *
                                   uint64_t(byteSize(operand.type)));
    buffers.push_back(std::move(*buffer));
  }
  // checkMemory() has looked at it.
  int64_t bytes = *evaluateExtent(entry.workspaceBytes, binding.extents);
  if (bytes > 0) {
    Expected<DeviceBuffer> buffer = DeviceBuffer::create(
        device, uint64_t(bytes), "workspace", BufferAccess::ReadWrite);
    if (!buffer)
      return buffer.takeError();
    workspace.emplace(std::move(*buffer));
    memory.workspace = workspace->address();
  }
  bool hasTrace = false;
  for (const Parameter &parameter : entry.parameters)
    hasTrace |= parameter.kind == ParameterKind::Trace;
  if (!hasTrace)
    return {};
  // Without a row the kernel gets a buffer of one block and row -1.
  int64_t tile = std::max<int64_t>(1, entry.attention.schedule.tileKV);
  int64_t blocks = (binding.extents["Sk"] + tile - 1) / tile;
  Expected<DeviceBuffer> buffer = DeviceBuffer::create(
      device,
      uint64_t(std::max<int64_t>(1, blocks) * (2 + binding.extents["Dv"])) * 4,
      "trace", BufferAccess::ReadWrite);
  if (!buffer)
    return buffer.takeError();
  trace.emplace(std::move(*buffer));
  memory.trace = trace->address();
  memory.traceRow = spec.traceRow.value_or(-1);
  return {};
}

Status Run::launchOnce() {
  return launchAll(
      entry, binding, arrays, memory, device,
      [&](const std::string &kernel, const LaunchGeometry &geometry,
          const std::vector<LaunchArgument> &arguments) {
        return device.launch(kernel, geometry, arguments);
      },
      result);
}

Status Run::runDevice() {
  if (!device.runsPTX())
    return {};
  if (!spec.isLoaded)
    if (Status status = device.load(program.ptx, program.ptxName); !status)
      return status;
  if (Status status = makeBuffers(); !status)
    return status;
  if (Status status = launchOnce(); !status)
    return status;
  if (result.failure)
    return {};
  if (Status status = findDamage(); !status || result.failure)
    return status;
  if (Status status = collectOutputs(); !status)
    return status;
  return collectTrace();
}

/// Did a kernel write where it must not?
Status Run::findDamage() {
  std::vector<std::pair<const DeviceBuffer *, std::string>> all;
  for (size_t n = 0; n < buffers.size(); ++n)
    all.push_back({&buffers[n], describeOperand(entry, int(n))});
  if (workspace)
    all.push_back({&*workspace, "the workspace"});
  if (trace)
    all.push_back({&*trace, "the trace"});
  for (const auto &[buffer, description] : all) {
    Expected<std::string> damage = buffer->findDamage();
    if (!damage)
      return damage.takeError();
    if (damage->empty())
      continue;
    result.failure =
        Error{ErrorCode::Fault, *damage + " of " + description, {}};
    return {};
  }
  return {};
}

Status Run::collectOutputs() {
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    if (!isOutput(n))
      continue;
    Expected<std::vector<std::byte>> bytes = buffers[n].read();
    if (!bytes)
      return bytes.takeError();
    if (!unpackImage(*bytes, memory.images[n], arrays[n])) {
      result.failure = Error{ErrorCode::Fault,
                             "the kernel wrote between the elements of " +
                                 describeOperand(entry, int(n)),
                             {}};
      return {};
    }
    result.outputs.push_back(arrays[n]);
  }
  return {};
}

Status Run::collectTrace() {
  if (!spec.traceRow || !trace || result.failure)
    return {};
  Expected<std::vector<std::byte>> bytes = trace->read();
  if (!bytes)
    return bytes.takeError();
  size_t width = size_t(2 + binding.extents["Dv"]);
  std::vector<float> values(bytes->size() / 4);
  std::memcpy(values.data(), bytes->data(), values.size() * 4);
  for (size_t block = 0; (block + 1) * width <= values.size(); ++block) {
    const float *row = values.data() + block * width;
    // A block that was skipped keeps the filler in its first word.
    uint32_t first;
    std::memcpy(&first, row, 4);
    if (first == 0xffffffffu)
      continue;
    TraceBlock state;
    state.block = int64_t(block);
    state.m = row[0];
    state.l = row[1];
    state.u.assign(row + 2, row + width);
    result.trace.push_back(std::move(state));
  }
  return {};
}

Status Run::check() {
  if (result.failure || !needsProblem())
    return {};
  Clock::time_point start = Clock::now();
  Expected<std::map<int, Expectation>> made = expectedResults(entry, *problem);
  if (!made)
    return made.takeError();
  expected = std::move(*made);
  result.oracleSeconds = secondsSince(start);
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    if (!isOutput(n))
      continue;
    const Expectation &expectation = expected[int(n)];
    if (!device.runsPTX()) {
      arrays[n] =
          Array(entry.operands[n].type, expectation.shape, expectation.values);
      result.outputs.push_back(arrays[n]);
    }
    if (!spec.check)
      continue;
    Comparison comparison =
        compare(entry.operands[n].role, arrays[n], expectation);
    if (device.runsPTX())
      if (std::optional<uint64_t> byte = buffers[n].firstUnwritten();
          byte && !spec.strides.count(int(n))) {
        comparison.ok = false;
        comparison.problem =
            "never_written=" +
            indexText(indexOf(int64_t(*byte / byteSize(entry.operands[n].type)),
                              arrays[n].shape));
      }
    result.comparisons.push_back(std::move(comparison));
  }
  return {};
}

/// On the arrays of the run that was checked, which the kernels only write
/// anew.
Status Run::bench() {
  if (spec.benchRuns == 0 || result.failure || !device.hasRealTime())
    return {};
  Timing timing;
  for (const Array &array : arrays)
    timing.bytes += double(array.bytes.size());
  if (problem)
    timing.operations = 2.0 *
                        double(binding.extents["D"] + binding.extents["Dv"]) *
                        double(faref::neededKeyRows(*problem, 1, 1));
  int64_t launches = result.launches;
  double seconds = result.deviceSeconds;
  for (uint64_t n = 0; n < Timing::kWarmUps + spec.benchRuns; ++n) {
    result.deviceSeconds = 0;
    if (Status status = launchOnce(); !status)
      return status;
    if (result.failure)
      return {};
    if (n >= Timing::kWarmUps)
      timing.seconds.push_back(result.deviceSeconds);
  }
  result.launches = launches;
  result.deviceSeconds = seconds;
  std::sort(timing.seconds.begin(), timing.seconds.end());
  result.timing = std::move(timing);
  return {};
}

} // namespace

double Timing::median() const {
  size_t half = seconds.size() / 2;
  return seconds.size() % 2 ? seconds[half]
                            : (seconds[half - 1] + seconds[half]) / 2;
}

std::string Timing::str() const {
  // Nothing was launched for an empty grid.
  double perSecond = median() > 0 ? 1 / median() : 0;
  char buffer[200];
  std::snprintf(buffer, sizeof(buffer),
                "bench: %zu runs min=%.4g ms median=%.4g ms max=%.4g ms "
                "%.4g TFLOP/s %.4g GB/s",
                seconds.size(), seconds.front() * 1e3, median() * 1e3,
                seconds.back() * 1e3, operations * perSecond / 1e12,
                bytes * perSecond / 1e9);
  return buffer;
}

std::string TraceBlock::str() const {
  std::string text = "trace: block=" + std::to_string(block) +
                     " m=" + shortest(m) + " l=" + shortest(l) + " u=[";
  for (size_t n = 0; n < u.size(); ++n)
    text += (n ? ", " : "") + shortest(u[n]);
  return text + "]";
}

int RunResult::exitCode() const {
  if (failure)
    return int(failure->code);
  for (const Comparison &comparison : comparisons)
    if (!comparison.ok)
      return int(ErrorCode::Comparison);
  return 0;
}

Expected<RunResult> run(const Program &program, const RunSpec &spec,
                        Device &device) {
  Expected<const Entry *> entry = findEntry(program.manifest, spec.entry);
  if (!entry)
    return entry.takeError();
  return Run(program, spec, device, **entry).execute();
}

} // namespace farun
