//===- TensorMaps.cpp - tensor maps as arguments --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tensormap:K:box=64x64:swizzle=128B describes the array of argument K to TMA.
// A parameter of 128 bytes gets the map itself, a pointer the address of a
// read-only buffer that holds it.
//
//===----------------------------------------------------------------------===//
#include "Arguments.h"

#include "fa/Support/TensorMap.h"

#include <algorithm>

using namespace farun;
using Problem = std::optional<std::string>;

static const char *const kForm =
    "expected tensormap:K:box=NxN...[:swizzle=none|32B|64B|128B]";

/// Digits up to `stop` or the end; false when there are none or too many.
static bool takeNumber(std::string &text, char stop, uint32_t &value) {
  size_t n = std::min(text.find(stop), text.size());
  std::string digits = text.substr(0, n);
  text.erase(0, std::min(n + 1, text.size()));
  if (digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string::npos)
    return false;
  value = uint32_t(std::stoul(digits));
  return true;
}

static Problem readBox(std::string text, std::vector<uint32_t> &box) {
  // "64x" ends with a number that is missing.
  bool isWhole = !text.empty() && text.back() != 'x';
  std::string rest = text;
  while (isWhole && !rest.empty()) {
    isWhole = takeNumber(rest, 'x', box.emplace_back());
  }
  if (isWhole)
    return std::nullopt;
  return "box '" + text + "' is not numbers joined by x";
}

static Problem readSwizzle(const std::string &text,
                           ptxvm::TensorSwizzle &swizzle) {
  if (std::optional<TensorSwizzle> parsed = parseTensorSwizzle(text)) {
    swizzle = ptxvm::TensorSwizzle(*parsed);
    return std::nullopt;
  }
  return "swizzle '" + text + "' is unknown; accepted are none, 32B, 64B, 128B";
}

Problem Arguments::addMap(const std::string &text, const std::string &rest) {
  Map map;
  map.text = text;
  map.argument = arguments.size();
  std::string words = rest;
  uint32_t of = 0;
  if (!takeNumber(words, ':', of))
    return kForm;
  map.of = of;
  bool hasBox = false, hasSwizzle = false;
  while (!words.empty()) {
    size_t end = std::min(words.find(':'), words.size());
    std::string word = words.substr(0, end);
    words.erase(0, std::min(end + 1, words.size()));
    bool isBox = word.starts_with("box=");
    bool isSwizzle = word.starts_with("swizzle=");
    if ((!isBox && !isSwizzle) || (isBox ? hasBox : hasSwizzle))
      return kForm;
    (isBox ? hasBox : hasSwizzle) = true;
    if (Problem wrong = isBox ? readBox(word.substr(4), map.box)
                              : readSwizzle(word.substr(8), map.swizzle))
      return wrong;
  }
  if (!hasBox)
    return kForm;
  size_t n = map.argument;
  ptxvm::Argument a;
  bool isPointer =
      n < kernel.parameters.size() && kernel.parameters[n].size == 8;
  a.bytes.resize(isPointer ? 8 : 128);
  if (Problem wrong =
          checkParameter("a tensor map", a.bytes.size(), false, isPointer))
    return wrong;
  arguments.push_back(std::move(a));
  maps.push_back(std::move(map));
  return std::nullopt;
}

Problem Arguments::finishMap(const Map &map) {
  auto of = std::find_if(buffers.begin(), buffers.end(),
                         [&](const Buffer &b) { return b.argument == map.of; });
  std::string which = "argument " + std::to_string(map.of);
  if (of == buffers.end())
    return map.of < arguments.size()
               ? which + " is no buffer"
               : "there is no " + which + "; there are " +
                     std::to_string(arguments.size()) + " arguments";
  const std::vector<int64_t> &extents = of->array.shape;
  size_t rank = extents.size();
  if (rank < 1 || rank > 5)
    return which + " has " + std::to_string(rank) +
           " dimensions; a tensor map has 1 to 5";
  if (map.box.size() != rank)
    return "the box has " + std::to_string(map.box.size()) + " numbers, " +
           which + " " + std::to_string(rank) + " dimensions";
  ptxvm::TensorMapShape shape;
  shape.type = ptxvm::TensorType(tensorDataType(of->array.type));
  shape.rank = uint32_t(rank);
  shape.address = of->address;
  shape.swizzle = map.swizzle;
  uint64_t bytes = byteSize(of->array.type);
  for (size_t d = 0; d < rank; ++d) {
    shape.dims[d] = uint64_t(extents[rank - 1 - d]);
    shape.box[d] = map.box[rank - 1 - d];
    bytes *= shape.dims[d];
    if (d + 1 < rank)
      shape.strides[d] = bytes;
  }
  auto encoded = ptxvm::encodeTiled(shape);
  if (!encoded)
    return encoded.error().message;
  ptxvm::Argument &a = arguments[map.argument];
  if (a.bytes.size() == encoded->bytes.size()) {
    a = ptxvm::Argument::of(*encoded);
    return std::nullopt;
  }
  uint64_t address = device.alloc(encoded->bytes.size(), map.text, true);
  device.write(address, encoded->bytes.data(), encoded->bytes.size());
  a = ptxvm::Argument::of(address);
  return std::nullopt;
}

Problem Arguments::finishMaps() {
  for (const Map &map : maps)
    if (Problem wrong = finishMap(map))
      return "--arg=" + map.text + ": " + *wrong;
  return std::nullopt;
}
