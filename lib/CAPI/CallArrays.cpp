//===- CallArrays.cpp - the arrays of a call and what they bind -----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CallArrays.h"

namespace facapi {

std::string findBlamed(const farun::Entry &entry, const std::string &message) {
  // Where two disagree, the one that is named last came last.
  size_t last = 0;
  std::string role;
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    size_t place = message.rfind(farun::describeOperand(entry, int(n)));
    if (place == std::string::npos || (!role.empty() && place < last))
      continue;
    last = place;
    role = entry.operands[n].role;
  }
  return role;
}

static Outcome checkOperand(const farun::Operand &operand,
                            const GivenArray &array, bool exact) {
  bool isResult = operand.kind == farun::OperandKind::Output;
  bool isRight = isResult && !exact ? farun::isFloat(array.type)
                                    : array.type == operand.type;
  if (!isRight)
    return inputFailure(
        operand.role + " has dtype " + std::string(farun::name(array.type)) +
            "; accepted is " +
            (isResult && !exact ? "a float type"
                                : std::string(farun::name(operand.type))),
        operand.role);
  if (operand.kind == farun::OperandKind::Scalar && array.size() == 1)
    return std::nullopt;
  if (array.shape.size() == operand.dims.size())
    return std::nullopt;
  std::string dims;
  for (const std::string &dim : operand.dims)
    dims += (dims.empty() ? "" : ", ") + dim;
  return inputFailure(operand.role + " has shape " +
                          farun::shapeText(array.shape) + "; accepted are " +
                          std::to_string(operand.dims.size()) +
                          " dimensions (" + dims + ")",
                      operand.role);
}

Outcome CallArrays::read(const EntryView &view, const fa_array *inputArrays,
                         size_t inputCount, const fa_array *resultArrays,
                         size_t resultCount, bool exact) {
  if (Outcome failure = checkArrays(inputArrays, inputCount, "input",
                                    view.inputNames, inputs))
    return failure;
  if (Outcome failure = checkArrays(resultArrays, resultCount, "result",
                                    view.resultNames, results))
    return failure;
  const std::vector<farun::Operand> &operands = view.entry->operands;
  farun::RunSpec spec;
  for (size_t n = 0; n < operands.size(); ++n) {
    const GivenArray &array = (*this)[n];
    if (Outcome failure = checkOperand(operands[n], array, exact))
      return failure;
    // bindExtents() looks at an input's shape alone.
    if (n < inputs.size()) {
      farun::Array shapeOnly;
      shapeOnly.type = array.type;
      shapeOnly.shape = array.shape;
      spec.inputs.emplace(int(n), std::move(shapeOnly));
    }
  }
  farun::Expected<farun::Binding> bound = farun::bindExtents(*view.entry, spec);
  if (!bound)
    return toFailure(bound.error(),
                     findBlamed(*view.entry, bound.error().message));
  binding = std::move(*bound);
  for (size_t n = 0; n < results.size(); ++n) {
    const std::vector<int64_t> &wanted = binding.shapes[inputs.size() + n];
    if (results[n].shape != wanted)
      return inputFailure("the result " + view.resultNames[n] + " has shape " +
                              farun::shapeText(results[n].shape) +
                              "; by the inputs it is " +
                              farun::shapeText(wanted),
                          view.resultNames[n]);
  }
  return checkOverlap(inputs, view.inputNames, results, view.resultNames);
}

size_t CallArrays::findOnDevice() const {
  size_t n = 0;
  while (n < size() && !(*this)[n].isOnDevice)
    ++n;
  return n;
}

std::vector<farun::Array>
CallArrays::gatherInputs(const farun::Entry &entry) const {
  std::vector<farun::Array> arrays;
  for (size_t n = 0; n < entry.operands.size(); ++n) {
    if (n >= inputs.size()) {
      arrays.push_back(farun::Array());
      continue;
    }
    arrays.push_back(gather(inputs[n]));
    if (entry.operands[n].kind == farun::OperandKind::Scalar)
      arrays.back().shape.clear(); // one element, however it was written
  }
  return arrays;
}

} // namespace facapi
