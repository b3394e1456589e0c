//===- Arguments.cpp - what --arg says ------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forms of --arg; docs/Emulator.md lists them.
//
//===----------------------------------------------------------------------===//
#include "Arguments.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace farun;
using Problem = std::optional<std::string>;

Problem Arguments::add(const std::string &text, ptxvm::Device &device) {
  size_t colon = text.find(':');
  if (colon == std::string::npos)
    return "expected KIND:VALUE";
  std::string kind = text.substr(0, colon), rest = text.substr(colon + 1);
  if (kind == "expect")
    return addExpectation(rest);
  lastIsOutput = kind == "out" || kind == "inout";
  if (kind == "in")
    return addInput(rest, true, "", device);
  if (kind == "inout") {
    size_t second = rest.find(':');
    if (second == std::string::npos)
      return "expected inout:IN.npy:OUT.npy";
    return addInput(rest.substr(0, second), false, rest.substr(second + 1),
                    device);
  }
  if (kind == "out")
    return addOutput(rest, device);
  if (kind == "bytes") {
    auto content = readFileBytes(rest);
    if (!content)
      return content.error().message;
    ptxvm::Argument a;
    for (std::byte b : *content)
      a.bytes.push_back(uint8_t(b));
    arguments.push_back(std::move(a));
    return std::nullopt;
  }
  return addScalar(kind, rest);
}

Problem Arguments::addInput(const std::string &path, bool isReadOnly,
                            const std::string &output, ptxvm::Device &device) {
  auto array = readNpyAny(path);
  if (!array)
    return array.error().message;
  if (!output.empty())
    if (Status status = files.expectFile(output); !status)
      return status.error().message;
  Buffer b;
  b.address = device.alloc(array->bytes.size(), path, isReadOnly);
  device.write(b.address, array->bytes.data(), array->bytes.size());
  b.array = std::move(*array);
  b.output = output;
  arguments.push_back(ptxvm::Argument::of(b.address));
  buffers.push_back(std::move(b));
  return std::nullopt;
}

// out:FILE.npy:f32[2,64]
Problem Arguments::addOutput(const std::string &rest, ptxvm::Device &device) {
  const char *form = "expected out:FILE.npy:TYPE[N,...]";
  size_t colon = rest.rfind(':'), open = rest.rfind('[');
  if (colon == std::string::npos || open == std::string::npos || open < colon ||
      rest.back() != ']')
    return form;
  auto type = parseElementType(rest.substr(colon + 1, open - colon - 1));
  if (!type)
    return "unknown element type '" + rest.substr(colon + 1, open - colon - 1) +
           "'";
  std::vector<int64_t> shape;
  for (size_t at = open + 1; at < rest.size() - 1;) {
    char *end = nullptr;
    long long n = std::strtoll(rest.c_str() + at, &end, 10);
    if (end == rest.c_str() + at || n < 0 || n > (1ll << 32))
      return form;
    shape.push_back(n);
    at = size_t(end - rest.c_str()) + 1;
  }
  double bytes = double(byteSize(*type));
  for (int64_t n : shape)
    bytes *= double(n);
  // The array, the device's copy, and a mark for each byte of that.
  double memory =
      double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
  if (bytes * 3 > memory)
    return "this output has more bytes than a third of this machine's memory";
  Buffer b;
  b.output = rest.substr(0, colon);
  if (Status status = files.expectFile(b.output); !status)
    return status.error().message;
  b.array = Array(*type, shape);
  b.address = device.alloc(b.array.bytes.size(), b.output);
  arguments.push_back(ptxvm::Argument::of(b.address));
  buffers.push_back(std::move(b));
  return std::nullopt;
}

Problem Arguments::addExpectation(const std::string &rest) {
  if (buffers.empty() || !lastIsOutput)
    return "an expectation follows the output it is about";
  Buffer &b = buffers.back();
  b.expected = rest;
  size_t colon = rest.rfind(':');
  if (colon == std::string::npos)
    return std::nullopt;
  char *end = nullptr;
  b.tolerance = std::strtod(rest.c_str() + colon + 1, &end);
  if (*end || end == rest.c_str() + colon + 1 || !(b.tolerance >= 0))
    return "expected expect:FILE.npy[:TOLERANCE]";
  b.expected = rest.substr(0, colon);
  return std::nullopt;
}

Problem Arguments::addScalar(const std::string &type,
                             const std::string &value) {
  auto element = parseElementType(type);
  if (!element)
    return "unknown kind '" + type +
           "'; expected in, out, inout, expect, bytes or a scalar type";
  ptxvm::Argument a;
  a.bytes.resize(byteSize(*element));
  char *end = nullptr;
  errno = 0;
  if (isFloat(*element)) {
    double number = std::strtod(value.c_str(), &end);
    storeElement(*element, reinterpret_cast<std::byte *>(a.bytes.data()),
                 number);
  } else {
    bool isNegative = !value.empty() && value[0] == '-';
    uint64_t number = isNegative
                          ? uint64_t(std::strtoll(value.c_str(), &end, 0))
                          : std::strtoull(value.c_str(), &end, 0);
    std::memcpy(a.bytes.data(), &number, a.bytes.size());
    unsigned bits = 8 * unsigned(a.bytes.size());
    bool isSigned = type[0] == 'i' || type[0] == 's';
    uint64_t limit = isSigned     ? 1ull << (bits - 1)
                     : bits == 64 ? ~0ull
                                  : 1ull << bits;
    bool isTooLarge = isNegative ? !isSigned || 0 - number > limit
                      : isSigned ? number >= limit
                                 : bits < 64 && number >= limit;
    if (isTooLarge && end && !*end)
      return "'" + value + "' is out of range for " + type;
  }
  if (value.empty() || *end || errno == ERANGE)
    return "'" + value + "' is not a number of type " + type;
  arguments.push_back(std::move(a));
  return std::nullopt;
}

bool Arguments::compare(const Buffer &b, int &code) {
  auto want = readNpyAs(b.expected, b.array.type);
  if (!want) {
    std::fprintf(stderr, "%s\n", want.error().str().c_str());
    code = 2;
    return false;
  }
  if (want->shape != b.array.shape) {
    std::fprintf(stderr, "error: %s has shape %s, the output %s\n",
                 b.expected.c_str(), shapeText(want->shape).c_str(),
                 shapeText(b.array.shape).c_str());
    code = 2;
    return false;
  }
  for (int64_t i = 0; i < want->size(); ++i) {
    double x = b.array.get(i), y = want->get(i);
    bool same = x == y || (std::isnan(x) && std::isnan(y)) ||
                std::fabs(x - y) <= b.tolerance * std::max(1.0, std::fabs(y));
    if (same)
      continue;
    std::fprintf(stderr, "%s: element %lld is %.9g, expected %.9g\n",
                 b.expected.c_str(), (long long)i, x, y);
    code = 1;
    return false;
  }
  return true;
}

int Arguments::finish(ptxvm::Device &device) {
  int code = 0;
  for (Buffer &b : buffers) {
    device.read(b.address, b.array.bytes.data(), b.array.bytes.size());
    if (!b.expected.empty() && !compare(b, code))
      return code;
  }
  for (const Buffer &b : buffers) {
    if (b.output.empty())
      continue;
    Status written = files.addFile(b.output, npyText(b.array));
    if (!written) {
      std::fprintf(stderr, "%s\n", written.error().str().c_str());
      return 2;
    }
  }
  return 0;
}
