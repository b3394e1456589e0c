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

#include "fa/Support/HostMemory.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace farun;
using Problem = std::optional<std::string>;

/// "4 bytes", "1 byte".
static std::string byteText(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

/// ".param .u32 n, 4 bytes".
static std::string describe(const ptxvm::KernelParameter &p) {
  return ".param ." + p.type + " " + p.name +
         (p.isArray ? "[" + std::to_string(p.size) + "]" : "") + ", " +
         byteText(p.size);
}

Problem Arguments::checkParameter(const std::string &what, size_t bytes,
                                  bool isFloat, bool isInteger) const {
  size_t n = arguments.size();
  // Too many arguments are the launch's to report, with how many there are.
  if (n >= kernel.parameters.size())
    return std::nullopt;
  const ptxvm::KernelParameter &p = kernel.parameters[n];
  // Signs are not told apart: nvcc declares an int as .u32. Bits and arrays
  // take whatever has their size.
  bool takesBits = p.isArray || p.type[0] == 'b';
  bool fits = takesBits || !(p.type[0] == 'f' ? isInteger : isFloat);
  if (fits && bytes == p.size)
    return std::nullopt;
  return "argument " + std::to_string(n) + " is " + what + ", " +
         byteText(bytes) + "; the kernel declares " + describe(p);
}

Problem Arguments::add(const std::string &text) {
  size_t colon = text.find(':');
  if (colon == std::string::npos)
    return "expected KIND:VALUE";
  std::string kind = text.substr(0, colon), rest = text.substr(colon + 1);
  if (kind == "expect")
    return addExpectation(rest);
  lastIsOutput = kind == "out" || kind == "inout";
  if (kind == "in")
    return addInput(rest, true, "");
  if (kind == "inout") {
    size_t second = rest.find(':');
    if (second == std::string::npos)
      return "expected inout:IN.npy:OUT.npy";
    return addInput(rest.substr(0, second), false, rest.substr(second + 1));
  }
  if (kind == "out")
    return addOutput(rest);
  if (kind == "bytes")
    return addBytes(rest);
  if (kind == "tensormap")
    return addMap(text, rest);
  return addScalar(kind, rest);
}

Problem Arguments::addBytes(const std::string &path) {
  auto content = readFileBytes(path);
  if (!content)
    return content.error().message;
  if (Problem wrong =
          checkParameter("the bytes of " + path, content->size(), false, false))
    return wrong;
  ptxvm::Argument a;
  for (std::byte b : *content)
    a.bytes.push_back(uint8_t(b));
  arguments.push_back(std::move(a));
  return std::nullopt;
}

Problem Arguments::addBuffer(Buffer buffer) {
  if (Problem wrong = checkParameter("a buffer's address", 8, false, true))
    return wrong;
  buffer.argument = arguments.size();
  arguments.push_back(ptxvm::Argument::of(buffer.address));
  buffers.push_back(std::move(buffer));
  return std::nullopt;
}

Problem Arguments::addInput(const std::string &path, bool isReadOnly,
                            const std::string &output) {
  auto array = readNpyAny(path);
  if (!array)
    return array.error().message;
  if (!output.empty())
    if (Status status = files.expectFile(output, "inout:...:" + output);
        !status)
      return status.error().message;
  Buffer b;
  b.address = device.alloc(array->bytes.size(), path, isReadOnly);
  device.write(b.address, array->bytes.data(), array->bytes.size());
  b.array = std::move(*array);
  b.output = output;
  return addBuffer(std::move(b));
}

/// "2,64"; nothing is a scalar's shape.
static bool readExtents(const std::string &text, std::vector<int64_t> &shape) {
  for (size_t at = 0; at < text.size() || !shape.empty();) {
    size_t end = std::min(text.find(',', at), text.size());
    uint64_t extent = 0;
    const char *last = text.data() + end;
    auto [stop, problem] = std::from_chars(text.data() + at, last, extent);
    if (problem != std::errc() || stop != last || extent > (1ull << 32))
      return false;
    shape.push_back(int64_t(extent));
    if (end == text.size())
      break;
    at = end + 1;
  }
  return true;
}

// out:FILE.npy:f32[2,64]
Problem Arguments::addOutput(const std::string &rest) {
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
  std::string extents = rest.substr(open + 1, rest.size() - open - 2);
  if (!readExtents(extents, shape))
    return "the shape [" + extents +
           "] is not numbers from 0 to 4294967296 joined by commas";
  double bytes = double(byteSize(*type));
  for (int64_t n : shape)
    bytes *= double(n);
  // The array, the device's copy, and a mark for each byte of that.
  if (bytes * 3 > 2 * double(hostMemoryBudget()))
    return "this output has more bytes than a third of this machine's memory";
  Buffer b;
  b.output = rest.substr(0, colon);
  if (Status status = files.expectFile(b.output, "out:" + b.output); !status)
    return status.error().message;
  b.array = Array(*type, shape);
  b.address = device.alloc(b.array.bytes.size(), b.output);
  return addBuffer(std::move(b));
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
  if (*end || end == rest.c_str() + colon + 1 || !(b.tolerance >= 0) ||
      !std::isfinite(b.tolerance))
    return "expected expect:FILE.npy[:TOLERANCE], a finite number of at least "
           "0, found '" +
           rest.substr(colon + 1) + "'";
  b.expected = rest.substr(0, colon);
  return std::nullopt;
}

Problem Arguments::addScalar(const std::string &type,
                             const std::string &value) {
  auto element = parseElementType(type);
  if (!element)
    return "unknown kind '" + type +
           "'; expected in, out, inout, expect, bytes, tensormap or a scalar "
           "type";
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
  if (Problem wrong = checkParameter(type, a.bytes.size(), isFloat(*element),
                                     !isFloat(*element)))
    return wrong;
  arguments.push_back(std::move(a));
  return std::nullopt;
}

/// Is element `i` what it has to be? Without a tolerance integers are compared
/// by their bits: an f64 does not hold all of them. An infinity is only itself:
/// relative to it every error is small.
static bool isSame(const Array &found, const Array &want, int64_t i,
                   double tolerance) {
  size_t bytes = byteSize(found.type);
  if (tolerance == 0 && !isFloat(found.type))
    return std::memcmp(&found.bytes[size_t(i) * bytes],
                       &want.bytes[size_t(i) * bytes], bytes) == 0;
  double x = found.get(i), y = want.get(i);
  if (!std::isfinite(x) || !std::isfinite(y))
    return x == y || (std::isnan(x) && std::isnan(y));
  return std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y));
}

/// The indices of element `i`.
static std::vector<int64_t> indices(const std::vector<int64_t> &shape,
                                    int64_t i) {
  std::vector<int64_t> at(shape.size());
  for (size_t d = shape.size(); d-- > 0; i /= shape[d])
    at[d] = i % shape[d];
  return at;
}

ExpectationResult Arguments::compare(const Buffer &b, int &code) const {
  ExpectationResult result;
  result.argument = int(b.argument);
  result.expected = b.expected;
  result.bound = b.tolerance;
  result.count = b.array.size();
  auto want = readNpyAs(b.expected, b.array.type);
  if (!want || want->shape != b.array.shape) {
    result.problem = !want ? want.error().str()
                           : "error: " + b.expected + " has shape " +
                                 shapeText(want->shape) + ", the output " +
                                 shapeText(b.array.shape);
    std::fprintf(stderr, "%s\n", result.problem.c_str());
    code = 2;
    return result;
  }
  for (int64_t i = 0; i < want->size(); ++i) {
    double x = b.array.get(i), y = want->get(i);
    if (!(std::isnan(x) && std::isnan(y)) && x != y)
      result.maxError = std::max(result.maxError, std::fabs(x - y));
    if (isSame(b.array, *want, i, b.tolerance))
      continue;
    if (result.wrong++ == 0) {
      result.at = indices(want->shape, i);
      result.found = x;
      result.wanted = y;
      std::fprintf(stderr, "%s: element %lld is %.17g, expected %.17g\n",
                   b.expected.c_str(), (long long)i, x, y);
    }
  }
  result.ok = result.wrong == 0;
  if (!result.ok && code == 0)
    code = 1;
  return result;
}

int Arguments::finish() {
  int code = 0;
  for (Buffer &b : buffers) {
    device.read(b.address, b.array.bytes.data(), b.array.bytes.size());
    if (!b.expected.empty())
      results.push_back(compare(b, code));
  }
  if (code)
    return code;
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
