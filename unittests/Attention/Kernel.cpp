//===- Kernel.cpp - attention from text to a checked run ------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include "fa/Compiler/Compiler.h"
#include "fa/Runner/InputGenerator.h"
#include "fa/Runtime/RegisterDevices.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iomanip>
#include <sstream>

namespace farun::test {

Values fill(int64_t count, int64_t seed) {
  Values values;
  for (int64_t n = 0; n < count; ++n)
    values.push_back(double((31 * n + 17 * seed) % 23 - 11) / 8.0);
  return values;
}

std::string Extent5::str() const {
  return "B=" + std::to_string(B) + " Hq=" + std::to_string(Hq) +
         " Hkv=" + std::to_string(Hkv) + " Sq=" + std::to_string(Sq) +
         " Sk=" + std::to_string(Sk);
}

//===----------------------------------------------------------------------===//
// A form as text, compiled
//===----------------------------------------------------------------------===//

std::string Form::text() const {
  auto number = [](int64_t extent) {
    return extent < 0 ? std::string("?") : std::to_string(extent);
  };
  auto tensor = [&](int64_t heads, int64_t rows, int64_t columns,
                    const std::string &element) {
    std::string inner =
        number(isBSHD ? rows : heads) + "x" + number(isBSHD ? heads : rows);
    return "tensor<" + number(extents.B) + "x" + inner + "x" + number(columns) +
           "x" + element + ">";
  };
  std::string query = tensor(extents.Hq, extents.Sq, headDim, type);
  std::string key = tensor(extents.Hkv, extents.Sk, headDim, type);
  std::string value = tensor(extents.Hkv, extents.Sk, valueDim, type);
  std::string result = tensor(extents.Hq, extents.Sq, valueDim,
                              outType.empty() ? type : outType);
  std::string lse = "tensor<" + number(extents.B) + "x" + number(extents.Hq) +
                    "x" + number(extents.Sq) + "xf32>";
  std::string lengths = "tensor<" + number(extents.B) + "xi32>";

  std::string k = tensors == 1 ? "%q" : "%k", v = tensors == 3 ? "%v" : k;
  key = tensors == 1 ? query : key;
  value = tensors == 3 ? value : key;
  std::string arguments = "%q: " + query;
  if (k == "%k")
    arguments += ", %k: " + key;
  if (v == "%v")
    arguments += ", %v: " + value;
  std::string words = clauses;
  auto add = [&](bool isUsed, const std::string &clause,
                 const std::string &name, const std::string &type) {
    if (!isUsed)
      return;
    arguments += ", " + name + ": " + type;
    words += " " + clause + "(" + name + " : " + type + ")";
  };
  add(hasScaleOperand, "scale", "%scale", "f32");
  add(!bias.empty(), "bias", "%bias", "tensor<" + bias + "x" + biasType + ">");
  std::string perHead = "tensor<" + number(extents.Hq) + "xf32>";
  add(hasAlibi, "alibi", "%slopes", perHead);
  add(hasSink, "sink", "%sink", perHead);
  add(!mask.empty(), "mask", "%mask", "tensor<" + mask + "xi1>");
  if (hasSegments) {
    std::string ofQueries =
        "tensor<" + number(extents.B) + "x" + number(extents.Sq) + "xi32>";
    std::string ofKeys =
        "tensor<" + number(extents.B) + "x" + number(extents.Sk) + "xi32>";
    arguments += ", %sq: " + ofQueries + ", %sk: " + ofKeys;
    words += " segments(%sq, %sk : " + ofQueries + ", " + ofKeys + ")";
  }
  add(hasQLengths, "q_lengths", "%nq", lengths);
  add(hasKVLengths, "kv_lengths", "%nk", lengths);
  if (dropout) {
    std::ostringstream number;
    number << std::scientific << std::setprecision(17) << *dropout;
    arguments += ", %seed: i64";
    words += " dropout(" + number.str() + ", seed = %seed : i64)";
  }
  arguments += captured;
  std::string dictionary = attributes;
  if (isBSHD)
    dictionary +=
        std::string(dictionary.empty() ? "" : ", ") + "layout = \"bshd\"";
  if (!dictionary.empty())
    words += " {" + dictionary + "}";

  std::string results = hasLSE ? "%o, %lse" : "%o";
  std::string types = hasLSE ? result + ", " + lse : result;
  return "func.func @attention(" + arguments + ") -> (" + types + ") {\n  " +
         results + " = fa.attention %q, " + k + ", " + v + " " + words +
         "\n    : " + query + ", " + key + ", " + value + " -> " + types +
         "\n  return " + results + " : " + types + "\n}\n";
}

static mlir::fa::CompileOptions compileOptions(const Form &form) {
  mlir::fa::CompileOptions options;
  options.path = "attention.mlir";
  options.text = form.text();
  options.target = std::string(kTarget);
  options.schedule = form.schedule;
  options.traceState = form.isTraced;
  return options;
}

const Program &compileForm(const Form &form) {
  static std::map<std::string, Program> programs;
  std::string key =
      form.text() + form.schedule + (form.isTraced ? " traced" : "");
  auto [found, isNew] = programs.try_emplace(key);
  Program &program = found->second;
  if (!isNew)
    return program;
  // An empty entry keeps later lookups legal when the compiler fails.
  program.manifest.entries.resize(1);
  Expected<mlir::fa::CompiledKernel> kernel =
      mlir::fa::compile(compileOptions(form));
  if (!kernel) {
    ADD_FAILURE() << kernel.error().str() << "\n" << form.text();
    return program;
  }
  program.manifest = std::move(kernel->manifest);
  program.ptx = std::move(kernel->ptx);
  program.ptxName = "kernel.ptx";
  return program;
}

std::string compileError(const Form &form) {
  Expected<mlir::fa::CompiledKernel> kernel =
      mlir::fa::compile(compileOptions(form));
  if (kernel)
    return "no error";
  EXPECT_EQ(kernel.error().code, ErrorCode::Input);
  return kernel.error().str();
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static std::unique_ptr<Device> openDevice(const DeviceEntry &entry,
                                          const DeviceOptions &options) {
  Expected<std::unique_ptr<Device>> device = entry.open(options);
  if (!device) {
    ADD_FAILURE() << device.error().str();
    std::abort();
  }
  return std::move(*device);
}

std::unique_ptr<Device> openEmulator(const DeviceOptions &options) {
  return openDevice(emulatorDeviceEntry(), options);
}

Device &emulator() {
  static std::unique_ptr<Device> device = openEmulator({});
  return *device;
}

Device &reference() {
  static std::unique_ptr<Device> device =
      openDevice(referenceDeviceEntry(), {});
  return *device;
}

//===----------------------------------------------------------------------===//
// Trial
//===----------------------------------------------------------------------===//

Trial::Trial(const Form &form, const Extent5 &extents)
    : program(&compileForm(form)), form(form) {
  spec.dims = {{"B", extents.B},     {"Hq", extents.Hq}, {"Hkv", extents.Hkv},
               {"Sq", extents.Sq},   {"Sk", extents.Sk}, {"D", form.headDim},
               {"Dv", form.valueDim}};
}

Trial Trial::ofRows(const Form &form, const Values &q, const Values &k,
                    const Values &v) {
  Trial trial(form, {1, 1, 1, int64_t(q.size()), int64_t(k.size())});
  // Zero columns stay zero beside an infinity.
  auto scaled = [](double row, double factor) {
    return factor == 0 ? 0 : row * factor;
  };
  auto widen = [&](const Values &rows, int64_t columns, double even,
                   double odd) {
    Values wide;
    for (double row : rows)
      for (int64_t d = 0; d < columns; ++d)
        wide.push_back(d == 0 ? row : scaled(row, d % 2 ? odd : even));
    return wide;
  };
  trial.set("query", widen(q, form.headDim, 0, 0));
  trial.set("key", widen(k, form.headDim, 0, 0));
  return trial.set("value", widen(v, form.valueDim, 1, -1));
}

int Trial::operand(const std::string &role) const {
  const std::vector<Operand> &operands = entry().operands;
  for (size_t n = 0; n < operands.size(); ++n)
    if (operands[n].role == role)
      return int(n);
  ADD_FAILURE() << "no operand '" << role << "'";
  return 0;
}

Shape Trial::shapeOf(const std::string &role) const {
  Shape shape;
  for (const std::string &dim : entry().operands[size_t(operand(role))].dims)
    shape.push_back(dim == "1" ? 1 : spec.dims.at(dim));
  return shape;
}

Trial &Trial::set(const std::string &role, const Values &values) {
  int n = operand(role);
  Shape shape = shapeOf(role);
  if (int64_t(values.size()) != elementCount(shape)) {
    ADD_FAILURE() << role << " has " << elementCount(shape)
                  << " elements, given are " << values.size();
    return *this;
  }
  spec.inputs[n] = Array(entry().operands[size_t(n)].type, shape, values);
  return *this;
}

Trial &Trial::setAll(const std::string &role, double value) {
  return set(role, Values(size_t(elementCount(shapeOf(role))), value));
}

Trial &Trial::strides(const std::string &role, const Shape &values) {
  spec.strides[operand(role)] = values;
  return *this;
}

Array Trial::input(const std::string &role) const {
  int n = operand(role);
  if (auto given = spec.inputs.find(n); given != spec.inputs.end())
    return given->second;
  Expected<Binding> binding = bindExtents(entry(), spec);
  if (!binding) {
    ADD_FAILURE() << binding.error().str();
    return Array();
  }
  Expected<Array> array = generateInput(entry(), n, *binding, spec.seed);
  EXPECT_TRUE(bool(array));
  return array ? *array : Array();
}

RunResult Trial::run() const {
  RunResult result = run(emulator());
  if (std::getenv("FA_TEST_ORDERS"))
    expectNothingFound(*this, numTableOrders(), {}, bits(result));
  return result;
}

RunResult Trial::run(Device &device) const {
  Expected<RunResult> result = farun::run(*program, spec, device);
  if (!result) {
    ADD_FAILURE() << result.error().str() << "\n" << form.text();
    return RunResult();
  }
  auto where = [&] {
    std::string text = "seed " + std::to_string(spec.seed);
    for (const auto &[name, value] : spec.dims)
      text += " " + name + "=" + std::to_string(value);
    return text + " schedule " + form.schedule + "\n" + form.text();
  };
  if (result->failure)
    ADD_FAILURE() << result->failure->str() << "\n" << where();
  for (const Comparison &comparison : result->comparisons)
    EXPECT_TRUE(comparison.ok) << comparison.str() << "\n" << where();
  return std::move(*result);
}

RunResult Trial::runUnchecked(Device &device) const {
  Trial copy = *this;
  copy.spec.check = false;
  return copy.run(device);
}

RunResult Trial::runInstead(const std::string &ptx, Device &device) const {
  Program other = *program;
  other.ptx = ptx;
  RunSpec unchecked = spec;
  unchecked.check = false;
  Expected<RunResult> result = farun::run(other, unchecked, device);
  if (!result) {
    ADD_FAILURE() << result.error().str();
    return RunResult();
  }
  return std::move(*result);
}

RunResult Trial::runBlocks(int64_t count) const {
  Program other = *program;
  other.manifest.entries[0].launches[0].grid = {std::to_string(count), "1",
                                                "1"};
  RunSpec unchecked = spec;
  unchecked.check = false;
  Expected<RunResult> result = farun::run(other, unchecked, emulator());
  if (!result) {
    ADD_FAILURE() << result.error().str();
    return RunResult();
  }
  return std::move(*result);
}

std::string Trial::refusal() const {
  Expected<RunResult> result = farun::run(*program, spec, emulator());
  if (result)
    return "no error";
  EXPECT_EQ(result.error().code, ErrorCode::Input);
  return result.error().message;
}

RunResult Trial::oracle() const {
  Trial copy = *this;
  copy.spec.traceRow.reset();
  return copy.run(reference());
}

RunResult Trial::expect(const Values &out, const Values &lse) const {
  RunResult exact = oracle();
  expectNear(outColumn(exact), out);
  if (!lse.empty())
    expectNear(lseOf(exact), lse);
  return run();
}

int numTableOrders() {
  static const char *orders = std::getenv("FA_TEST_ORDERS");
  return orders ? std::stoi(orders) : 4;
}

void expectNothingFound(const Trial &trial, int numRandomOrders,
                        const DeviceOptions &base,
                        std::vector<std::byte> first) {
  std::vector<std::string> orders = {"round-robin", "reverse"};
  for (int seed = 1; seed <= numRandomOrders; ++seed)
    orders.push_back("random:" + std::to_string(seed));
  for (const std::string &order : orders) {
    DeviceOptions options = base;
    options.order = order;
    options.sanitize = "all";
    std::unique_ptr<Device> device = openEmulator(options);
    RunResult result =
        first.empty() ? trial.run(*device) : trial.runUnchecked(*device);
    for (const std::string &line : result.diagnostics)
      ADD_FAILURE() << order << ": " << line;
    if (first.empty())
      first = bits(result);
    EXPECT_TRUE(bits(result) == first) << order;
    if (testing::Test::HasFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

double counter(const RunResult &result, const std::string &name) {
  for (const auto &[key, value] : result.counters)
    if (key == name)
      return value;
  ADD_FAILURE() << "no counter '" << name << "'";
  return 0;
}

std::vector<std::byte> bits(const RunResult &result) {
  std::vector<std::byte> all;
  for (const Array &output : result.outputs)
    all.insert(all.end(), output.bytes.begin(), output.bytes.end());
  return all;
}

Values outColumn(const RunResult &result) {
  Values column;
  if (result.outputs.empty())
    return column;
  const Array &out = result.outputs[0];
  for (int64_t n = 0; n < out.size(); n += out.shape.back())
    column.push_back(out.get(n));
  return column;
}

Values lseOf(const RunResult &result) {
  return result.outputs.size() < 2 ? Values() : result.outputs[1].values();
}

void expectNear(const Values &found, const Values &expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t n = 0; n < found.size(); ++n) {
    if (std::isnan(expected[n]))
      EXPECT_TRUE(std::isnan(found[n])) << "at " << n << ": " << found[n];
    else if (std::isinf(expected[n]))
      EXPECT_EQ(found[n], expected[n]) << "at " << n;
    else
      EXPECT_NEAR(found[n], expected[n],
                  tolerance * std::max(1.0, std::abs(expected[n])))
          << "at " << n;
  }
}

} // namespace farun::test
