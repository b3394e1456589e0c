//===- ConfigurationRun.cpp - a configuration run and compared ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the exact mode each weight is a power of two, or all are equal, and values
// are whole numbers, so only the number of the output type that is nearest to
// the oracle's is right, and no tolerance is needed.
//
//===----------------------------------------------------------------------===//
#include "Configuration.h"

#include "fa/Compiler/Compiler.h"
#include "fa/Runner/InputGenerator.h"
#include "fa/Runner/Oracle.h"

#include <cmath>
#include <numbers>

namespace farun::test {

/// What a whole number of the exact mode may be off by, relative: multiples of
/// ln 2 in f32 and their sums.
static constexpr double kExactSlack = 0x1p-18;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The numbers of a row of Q that are not 0, at most. With as large scores and
/// what is added to them no weight is below 2^-22, which f16 has.
static constexpr int kTakenColumns = 5;

/// Products of Q and K are small whole numbers, values 1 to 8; what is added to
/// scores is up to 3 ln 2, or hides a key. So each weight is a power of two,
/// and each sum a whole number of the least of them.
Array Configuration::exactInput(const Operand &operand,
                                const Shape &shape) const {
  RandomSource random(seed, /*stream=*/95);
  const std::string &role = operand.role;
  auto draw = [&]() -> double {
    if (role == "value")
      return double(1 + random.integer(7));
    if (role == "scale")
      return (*this)[Exact] == 2 ? 0 : std::numbers::ln2;
    if (role == "key")
      return double(random.integer(2) - 1);
    return random.integer(9) ? std::numbers::ln2 * double(random.integer(6) - 3)
                             : -kInf;
  };
  Array array(operand.type, shape);
  if (role != "query") {
    for (int64_t n = 0; n < array.size(); ++n)
      array.set(n, draw());
    return array;
  }
  int64_t columns = shape.back();
  for (int64_t row = 0; row < array.size(); row += columns)
    for (int n = 0; n < kTakenColumns; ++n)
      array.set(row + random.integer(columns - 1), random.integer(1) ? 1 : -1);
  return array;
}

/// The strides of an operand: rows with a gap of 1 or of 8 elements behind
/// each, or keys in the opposite order.
static Shape stridesOf(const Operand &operand, const Shape &shape,
                       int64_t choice) {
  Shape strides = denseStrides(shape);
  if (choice == 3) {
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (operand.dims[dim] == "Sk")
        strides[dim] = -strides[dim];
    return strides;
  }
  strides[2] = shape[3] + (choice == 1 ? 1 : 8);
  strides[1] = strides[2] * shape[2];
  strides[0] = strides[1] * shape[1];
  return strides;
}

Status Configuration::prepare(const Entry &entry, RunSpec &spec) const {
  const Configuration &c = *this;
  Form form = this->form();
  Extent5 extent = extents();
  spec.dims = {{"B", extent.B},      {"Hq", extent.Hq}, {"Hkv", extent.Hkv},
               {"Sq", extent.Sq},    {"Sk", extent.Sk}, {"D", form.headDim},
               {"Dv", form.valueDim}};
  spec.seed = seed;
  Expected<Binding> binding = bindExtents(entry, spec);
  if (!binding)
    return binding.takeError();
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    const Operand &operand = entry.operands[n];
    const Shape &shape = binding->shapes[n];
    auto isOneOf = [&](std::initializer_list<const char *> roles) {
      return std::find(roles.begin(), roles.end(), operand.role) != roles.end();
    };
    if (c[Exact] && isOneOf({"query", "key", "value", "scale", "sink", "bias"}))
      spec.inputs[int(n)] = exactInput(operand, shape);
    if (c[Strides] && isOneOf({"query", "key", "value", "out"}))
      spec.strides[int(n)] = stridesOf(operand, shape, c[Strides]);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

static Expected<Program> compileFor(const Form &form, const char *target) {
  mlir::fa::CompileOptions options;
  options.path = "attention.mlir";
  options.text = form.text();
  options.target = target;
  options.schedule = form.schedule;
  Expected<mlir::fa::CompiledKernel> kernel = mlir::fa::compile(options);
  if (!kernel)
    return kernel.takeError();
  Program program;
  program.manifest = std::move(kernel->manifest);
  program.ptx = std::move(kernel->ptx);
  program.ptxName = "kernel.ptx";
  return program;
}

/// Persistent blocks have several tiles each.
static Device &fewMultiprocessors() {
  static std::unique_ptr<Device> device = [] {
    DeviceOptions options;
    options.multiprocessors = 2;
    return openEmulator(options);
  }();
  return *device;
}

/// Compares `result` with what it must be; of O only the nearest number is
/// right.
static Status compareExactly(const Entry &entry, const RunSpec &spec,
                             RunResult &result) {
  Expected<Binding> binding = bindExtents(entry, spec);
  if (!binding)
    return binding.takeError();
  std::vector<Array> arrays;
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    auto given = spec.inputs.find(int(n));
    Expected<Array> array =
        given != spec.inputs.end() ? Expected<Array>(given->second)
        : entry.operands[n].kind == OperandKind::Output
            ? Expected<Array>(Array(entry.operands[n].type, binding->shapes[n]))
            : generateInput(entry, int(n), *binding, spec.seed);
    if (!array)
      return array.takeError();
    arrays.push_back(std::move(*array));
  }
  Expected<faref::Problem> problem = makeProblem(entry, arrays);
  if (!problem)
    return problem.takeError();
  Expected<std::map<int, Expectation>> expected =
      expectedResults(entry, *problem);
  if (!expected)
    return expected.takeError();
  size_t output = 0;
  for (auto &[n, expectation] : *expected) {
    const Operand &operand = entry.operands[size_t(n)];
    for (size_t i = 0; operand.role == "out" && i < expectation.values.size();
         ++i) {
      double value = expectation.values[i];
      expectation.bounds[i] = std::abs(value - roundTo(operand.type, value)) +
                              kExactSlack * std::abs(value);
    }
    result.comparisons.push_back(
        compare(operand.role, result.outputs[output++], expectation));
  }
  return {};
}

Expected<RunResult> Configuration::run() const {
  Expected<Program> program = compileFor(form(), target());
  if (!program)
    return program.takeError();
  const Entry &entry = program->manifest.entries[0];
  RunSpec spec;
  if (Status status = prepare(entry, spec); !status)
    return status.takeError();
  spec.check = !(*this)[Exact];
  bool isPersistent = (*this)[Blocks] == 1 && hasRoles();
  Expected<RunResult> result = farun::run(
      *program, spec, isPersistent ? fewMultiprocessors() : emulator());
  if (result && !result->failure && !spec.check)
    if (Status status = compareExactly(entry, spec, *result); !status)
      return status.takeError();
  return result;
}

std::string Configuration::problem() const {
  Expected<RunResult> result = run();
  if (!result)
    return "refused: " + result.error().str();
  if (result->failure)
    return "stopped: " + result->failure->str();
  for (const Comparison &comparison : result->comparisons)
    if (!comparison.ok)
      return "wrong: " + comparison.str();
  return "";
}

Configuration Configuration::shrink() const {
  Configuration smallest = *this;
  for (bool isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (size_t question = 0; question < NumQuestions; ++question)
      for (int64_t less : {int64_t(0), smallest.choices[question] / 2,
                           smallest.choices[question] - 1}) {
        if (less < 0 || less >= smallest.choices[question])
          continue;
        Configuration candidate = smallest;
        candidate.choices[question] = less;
        if (candidate.problem().empty())
          continue;
        smallest = candidate;
        isSmaller = true;
        break;
      }
  }
  return smallest;
}

} // namespace farun::test
