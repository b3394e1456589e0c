//===- Binding.cpp - extents by role --------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Runner/Binding.h"

#include "fa/Support/Limits.h"

#include <algorithm>
#include <functional>
#include <set>

namespace farun {

namespace {

/// Who says an extent. It is put into words for a message alone: every launch
/// comes by here.
using Source = std::function<std::string()>;

/// Collects what each source says; keeps who said it.
class Binder {
public:
  explicit Binder(const Entry &entry) : entry(entry) {}

  Status setExtent(const std::string &name, int64_t value,
                   const Source &source) {
    if (value < 0)
      return inputError("the extent " + name + " is " + std::to_string(value) +
                        " by " + source() + "; it must not be negative");
    auto [found, isNew] = values.try_emplace(name, value);
    if (isNew)
      sources[name] = source;
    else if (found->second != value)
      return inputError("the extent " + name + " is " +
                        std::to_string(found->second) + " by " +
                        sources[name]() + " and " + std::to_string(value) +
                        " by " + source());
    return {};
  }

  /// `shape` for an operand: static extents, and all extents of an array.
  Status setShape(int index, const std::vector<int64_t> &shape,
                  const Source &source) {
    const Operand &operand = entry.operands[size_t(index)];
    if (shape.size() != operand.dims.size())
      return inputError(describeOperand(entry, index) + " has " +
                        std::to_string(operand.dims.size()) + " dimensions (" +
                        dimsText(operand) + "), and " + source() +
                        " has shape " + shapeText(shape));
    for (const OperandUse &use : operand.uses())
      if (Status status = setUse(index, use, shape, source); !status)
        return status;
    return {};
  }

  Status setUse(int index, const OperandUse &use,
                const std::vector<int64_t> &shape, const Source &source) {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == kDynamic)
        continue;
      // As open dimensions of a mask do, when they are 1.
      if (shape[d] == 1 && (use.role == "mask" || use.role == "bias")) {
        broadcast.insert({index, d});
        continue;
      }
      if (use.dims[d] == "1") {
        if (shape[d] != 1)
          return inputError("dimension " + std::to_string(d) + " of " +
                            describeOperand(entry, index) +
                            " broadcasts and must be 1; it is " +
                            std::to_string(shape[d]) + " by " + source());
        continue;
      }
      if (Status status = setExtent(use.dims[d], shape[d], source); !status)
        return status;
    }
    return {};
  }

  /// Where one argument has several roles, the names of a dimension have one
  /// value: what is known of one is known of the others.
  Status unify() {
    size_t before;
    do {
      before = values.size();
      for (size_t index = 0; index < entry.operands.size(); ++index)
        if (Status status = unifyOperand(int(index)); !status)
          return status;
    } while (values.size() != before);
    return {};
  }

  Status unifyOperand(int index) {
    std::vector<OperandUse> all = entry.operands[size_t(index)].uses();
    for (size_t d = 0; d < all[0].dims.size(); ++d)
      for (const OperandUse &from : all)
        for (const OperandUse &to : all) {
          auto known = values.find(from.dims[d]);
          if (known == values.end() || to.dims[d] == from.dims[d] ||
              to.dims[d] == "1")
            continue;
          Source source = [this, index, name = from.dims[d],
                           first = sources[from.dims[d]]] {
            return first() + ", as " + name + " of " +
                   describeOperand(entry, index);
          };
          if (Status status = setExtent(to.dims[d], known->second, source);
              !status)
            return status;
        }
    return {};
  }

  bool uses(const std::string &name) const {
    for (const std::string &used : allDims())
      if (used == name)
        return true;
    return false;
  }

  std::vector<std::string> allDims() const {
    std::vector<std::string> dims;
    for (const Operand &operand : entry.operands)
      for (const OperandUse &use : operand.uses())
        dims.insert(dims.end(), use.dims.begin(), use.dims.end());
    return dims;
  }

  std::string usedNames() const {
    std::vector<std::string> names;
    for (const std::string &dim : allDims())
      if (dim != "1" &&
          std::find(names.begin(), names.end(), dim) == names.end())
        names.push_back(dim);
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  /// What kernels and the meaning of attention ask of the extents.
  Status checkValues() {
    for (const char *name : {"Sq", "Sk", "Tq", "Tk"})
      if (auto found = values.find(name);
          found != values.end() && found->second > kMaxPositions)
        return inputError("the extent " + found->first + " is " +
                          std::to_string(found->second) + " by " +
                          sources[found->first]() +
                          "; positions are of 32 bits in the kernels, and at "
                          "most " +
                          std::to_string(kMaxPositions) + " is accepted");
    auto heads = values.find("Hq"), kvHeads = values.find("Hkv");
    if (heads == values.end() || kvHeads == values.end())
      return {};
    if (heads->second == 0 || kvHeads->second == 0 ||
        heads->second % kvHeads->second != 0)
      return inputError("the extent Hq is " + std::to_string(heads->second) +
                        " by " + sources["Hq"]() + " and Hkv is " +
                        std::to_string(kvHeads->second) + " by " +
                        sources["Hkv"]() +
                        "; Hq must be a positive multiple of Hkv");
    return {};
  }

  Expected<Binding> finish() {
    if (Status status = unify(); !status)
      return status.takeError();
    if (Status status = checkValues(); !status)
      return status.takeError();
    Binding binding;
    for (size_t index = 0; index < entry.operands.size(); ++index) {
      const Operand &operand = entry.operands[index];
      std::vector<int64_t> shape;
      int64_t count = 1;
      for (const std::string &dim : operand.dims) {
        auto found = values.find(dim);
        bool isOne = dim == "1" || broadcast.count({int(index), shape.size()});
        if (!isOne && found == values.end())
          return inputError("the extent " + dim + " of " +
                            describeOperand(entry, int(index)) +
                            " is open: give --dim=" + dim +
                            "=VALUE, --shape or --input");
        shape.push_back(isOne ? 1 : found->second);
        if (__builtin_mul_overflow(count, shape.back(), &count) ||
            count > kMaxElements)
          return inputError(describeOperand(entry, int(index)) +
                            " has more than 2^40 elements");
      }
      binding.shapes.push_back(shape);
    }
    binding.extents = values;
    return binding;
  }

private:
  static std::string dimsText(const Operand &operand) {
    std::string text;
    for (const std::string &dim : operand.dims)
      text += (text.empty() ? "" : ", ") + dim;
    return text;
  }

  const Entry &entry;
  Extents values;
  std::map<std::string, Source> sources;
  /// Dimensions that are 1, whatever their name stands for: operand, dimension.
  std::set<std::pair<int, size_t>> broadcast;
};

Error noSuchArgument(const Entry &entry, const std::string &option, int index) {
  int count = 0;
  for (const Operand &operand : entry.operands)
    count += operand.kind != OperandKind::Output;
  return inputError(option + "=" + std::to_string(index) +
                    " names no argument; " + entry.name + " has " +
                    std::to_string(count) + ", counted from 0");
}

bool isArgument(const Entry &entry, int index) {
  return index >= 0 && size_t(index) < entry.operands.size() &&
         entry.operands[size_t(index)].kind != OperandKind::Output;
}

} // namespace

std::string describeOperand(const Entry &entry, int index) {
  const Operand &operand = entry.operands[size_t(index)];
  int number = index;
  if (operand.kind == OperandKind::Output)
    for (int n = number = 0; n < index; ++n)
      number += entry.operands[size_t(n)].kind == OperandKind::Output;
  return (operand.kind == OperandKind::Output ? "result " : "argument ") +
         std::to_string(number) + " (" + operand.roleText() + ")";
}

Expected<Binding> bindExtents(const Entry &entry, const RunSpec &spec) {
  Binder binder(entry);
  for (size_t index = 0; index < entry.operands.size(); ++index)
    if (Status status = binder.setShape(
            int(index), entry.operands[index].shape,
            [&entry, index] {
              return "the type of " + describeOperand(entry, int(index));
            });
        !status)
      return status.takeError();
  for (const auto &[name, value] : spec.dims) {
    if (!isExtentName(name))
      return inputError("--dim=" + name +
                        " names no extent; accepted are B, Hq, Hkv, Sq, Sk, "
                        "D, Dv, Tq, Tk and pages");
    if (!binder.uses(name))
      return inputError("--dim=" + name + ": " + entry.name +
                        " has no such extent; it has " + binder.usedNames());
    if (Status status = binder.setExtent(name, value,
                                         [of = &name, given = value] {
                                           return "--dim=" + *of + "=" +
                                                  std::to_string(given);
                                         });
        !status)
      return status.takeError();
  }
  for (const auto &[index, shape] : spec.shapes) {
    if (!isArgument(entry, index))
      return noSuchArgument(entry, "--shape", index);
    if (Status status =
            binder.setShape(index, shape,
                            [number = index, given = &shape] {
                              return "--shape=" + std::to_string(number) + "=" +
                                     shapeText(*given);
                            });
        !status)
      return status.takeError();
  }
  for (const auto &[index, array] : spec.inputs) {
    if (!isArgument(entry, index))
      return noSuchArgument(entry, "--input", index);
    const Operand &operand = entry.operands[size_t(index)];
    // A scalar may come as an array of one element.
    if (operand.kind == OperandKind::Scalar && array.size() == 1)
      continue;
    Source source = [&entry, &spec, number = index] {
      auto name = spec.inputNames.find(number);
      return name == spec.inputNames.end()
                 ? "the array of " + describeOperand(entry, number)
                 : name->second;
    };
    if (Status status = binder.setShape(index, array.shape, source); !status)
      return status.takeError();
  }
  return binder.finish();
}

} // namespace farun
