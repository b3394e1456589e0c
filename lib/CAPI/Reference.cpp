//===- Reference.cpp - the oracle, and comparisons ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Attention.h"
#include "CallArrays.h"
#include "Compile.h"

#include "fa/Runner/Oracle.h"

namespace facapi {

namespace {

/// Refuses what the oracle does not know, by name.
Outcome checkKnown(const farun::Entry &entry) {
  for (const farun::Operand &operand : entry.operands) {
    farun::Entry one;
    one.operands = {operand};
    if (!farun::oracleKnows(one))
      return Failure(FA_ERROR_UNSUPPORTED,
                     "the oracle does not know the operand '" + operand.role +
                         "'",
                     operand.role);
  }
  return std::nullopt;
}

/// Only the compiler reads regions: what it writes down of them in a manifest.
Outcome readRegions(const AttentionOp &op, const char *region,
                    farun::Entry &entry) {
  CompileRequest request;
  request.text = op.text();
  request.name = "attention.mlir";
  request.target = farun::kDefaultTarget;
  CompileResult compiled;
  if (Outcome failure = compileText(request, compiled)) {
    op.blameRegion(*failure);
    if (failure->argument.empty())
      failure->argument = region;
    return failure;
  }
  const farun::Attention &read = compiled.program.manifest.entries[0].attention;
  entry.attention.score = read.score;
  entry.attention.visible = read.visible;
  return std::nullopt;
}

/// The oracle's answer for arrays, in the problem's terms.
struct Reference {
  const EntryView &view;
  CallArrays arrays;
  std::vector<GivenArray> bounds;

  Outcome read(const fa_array *inputs, size_t inputCount,
               const fa_array *results, size_t resultCount,
               const fa_array *boundArrays, size_t boundCount);
  /// `adjust` adds to the problem what an entry does not say.
  template <typename Adjust> Outcome run(Adjust adjust);
};

Outcome Reference::read(const fa_array *inputs, size_t inputCount,
                        const fa_array *results, size_t resultCount,
                        const fa_array *boundArrays, size_t boundCount) {
  if (Outcome failure = checkKnown(*view.entry))
    return failure;
  if (Outcome failure = arrays.read(view, inputs, inputCount, results,
                                    resultCount, /*exact=*/false))
    return failure;
  for (size_t n = 0; n < arrays.size(); ++n)
    if (Outcome failure = checkOnHost(arrays[n], view.entry->operands[n].role))
      return failure;
  if (!boundCount)
    return std::nullopt;
  if (Outcome failure = checkArrays(boundArrays, boundCount, "bound",
                                    view.resultNames, bounds))
    return failure;
  for (size_t n = 0; n < boundCount; ++n)
    if (Outcome failure = checkOnHost(bounds[n], "bounds"))
      return failure;
  for (size_t n = 0; n < boundCount; ++n)
    if (!farun::isFloat(bounds[n].type) ||
        bounds[n].shape != arrays.results[n].shape)
      return inputFailure(
          "the bounds of " + view.resultNames[n] + " have dtype " +
              std::string(farun::name(bounds[n].type)) + " and shape " +
              farun::shapeText(bounds[n].shape) +
              "; accepted are a float type and the result's shape, " +
              farun::shapeText(arrays.results[n].shape),
          "bounds");
  std::vector<GivenArray> others = arrays.inputs;
  std::vector<std::string> names = view.inputNames, boundNames;
  others.insert(others.end(), arrays.results.begin(), arrays.results.end());
  names.insert(names.end(), view.resultNames.begin(), view.resultNames.end());
  for (const std::string &name : view.resultNames)
    boundNames.push_back("bounds of " + name);
  return checkOverlap(others, names, bounds, boundNames);
}

template <typename Adjust> Outcome Reference::run(Adjust adjust) {
  const farun::Entry &entry = *view.entry;
  std::vector<farun::Array> dense = arrays.gatherInputs(entry);
  farun::Expected<faref::Problem> problem = farun::makeProblem(entry, dense);
  if (!problem)
    return toFailure(problem.error(),
                     findBlamed(entry, problem.error().message));
  adjust(*problem);
  auto expected = farun::expectedResults(entry, *problem);
  if (!expected)
    return toFailure(expected.error(),
                     findBlamed(entry, expected.error().message));
  for (size_t n = 0; n < arrays.results.size(); ++n) {
    const farun::Expectation &one = (*expected)[int(arrays.inputs.size() + n)];
    scatter(one.values, arrays.results[n]);
    if (!bounds.empty())
      scatter(one.bounds, bounds[n]);
  }
  return std::nullopt;
}

Outcome compareArrays(const GivenArray &found, const GivenArray &expected,
                      const GivenArray *bounds, fa_comparison &result) {
  if (found.shape != expected.shape)
    return inputFailure("found has shape " + farun::shapeText(found.shape) +
                            ", and expected has " +
                            farun::shapeText(expected.shape),
                        "expected");
  if (bounds && bounds->shape != found.shape)
    return inputFailure("bounds has shape " + farun::shapeText(bounds->shape) +
                            ", and found has " + farun::shapeText(found.shape),
                        "bounds");
  farun::Expectation expectation;
  expectation.shape = expected.shape;
  expectation.values = gather(expected).values();
  expectation.bounds = bounds ? gather(*bounds).values()
                              : std::vector<double>(size_t(expected.size()), 0);
  toComparison(farun::compare("found", gather(found), expectation), result);
  return std::nullopt;
}

} // namespace

} // namespace facapi

using namespace facapi;

fa_status fa_attention_reference(const fa_attention *attention,
                                 const fa_array *inputs, size_t input_count,
                                 const fa_array *results, size_t result_count,
                                 const fa_array *bounds, size_t bound_count,
                                 fa_error **error) {
  return call(error, [&]() -> Outcome {
    if (Outcome failure = beginWork())
      return failure;
    AttentionOp op;
    if (Outcome failure = op.read(attention))
      return failure;
    farun::Entry entry = op.entry();
    if (const char *region = op.findRegion())
      if (Outcome failure = readRegions(op, region, entry))
        return failure;
    EntryView view(entry);
    Reference reference{view, {}, {}};
    if (Outcome failure = reference.read(inputs, input_count, results,
                                         result_count, bounds, bound_count))
      return failure;
    return reference.run([&](faref::Problem &problem) {
      problem.precision = op.precisionKind();
    });
  });
}

fa_status fa_kernel_reference(const fa_kernel *kernel, const char *entry,
                              const fa_array *inputs, size_t input_count,
                              const fa_array *results, size_t result_count,
                              const fa_array *bounds, size_t bound_count,
                              fa_error **error) {
  return call(error, [&]() -> Outcome {
    Outcome failure;
    auto object = get<KernelObject>(Kind::Kernel, kernel, failure);
    if (!object)
      return failure;
    if ((failure = beginWork()))
      return failure;
    const EntryView *view = nullptr;
    if ((failure = object->findEntry(entry, view)))
      return failure;
    Reference reference{*view, {}, {}};
    if ((failure = reference.read(inputs, input_count, results, result_count,
                                  bounds, bound_count)))
      return failure;
    return reference.run([](faref::Problem &) {});
  });
}

fa_status fa_compare(const fa_array *found, const fa_array *expected,
                     const fa_array *bounds, fa_comparison *comparison,
                     fa_error **error) {
  return call(error, [&]() -> Outcome {
    const std::pair<const char *, const fa_array *> all[] = {
        {"found", found}, {"expected", expected}, {"bounds", bounds}};
    std::vector<GivenArray> arrays;
    for (auto [name, array] : all) {
      if (!array && name == std::string("bounds"))
        break;
      if (Outcome failure = checkPlace(array, name))
        return failure;
      std::vector<GivenArray> one;
      if (Outcome failure = checkArrays(array, 1, "array", {name}, one))
        return failure;
      if (Outcome failure = checkOnHost(one[0], name))
        return failure;
      arrays.push_back(std::move(one[0]));
    }
    fa_comparison filled = {};
    if (Outcome failure = compareArrays(arrays[0], arrays[1],
                                        bounds ? &arrays[2] : nullptr, filled))
      return failure;
    return writeStruct(comparison, "fa_comparison", sizeof(fa_comparison),
                       filled);
  });
}
