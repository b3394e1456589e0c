//===- Builtin.cpp - functions of the device runtime ----------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that CUDA's device runtime defines. nvcc passes vprintf the
// format and a buffer in local memory in which each argument, promoted as C
// does, lies at its natural alignment.
//
//===----------------------------------------------------------------------===//
#include "CallStack.h"
#include "Handlers.h"
#include "MemoryAccess.h"

#include <cstdio>
#include <optional>

using namespace ptxvm;

namespace {
/// Output that a warp may have waiting; what is more is cut.
constexpr size_t kMaxPrinted = 1 << 20;
constexpr size_t kMaxString = 4096;

/// One lane's view of memory, without checks and events: a runtime function is
/// no instruction of the program.
class LaneMemory {
public:
  LaneMemory(Warp &w, unsigned lane) : w(w), lane(lane) {}

  /// Host bytes behind a generic address, null when it is not all there.
  const uint8_t *find(uint64_t address, uint32_t bytes) const {
    CTA &cta = *w.cta;
    uint64_t window = address >> 56 << 56, at = address - window;
    if (window == kLocalWindow) {
      uint64_t size = cta.launch.kernel.localBytes;
      return at <= size && size - at >= bytes
                 ? cta.local.data() + (w.index * 32 + lane) * size + at
                 : nullptr;
    }
    if (window == kSharedWindow)
      return at <= cta.shared.size() && cta.shared.size() - at >= bytes
                 ? cta.shared.data() + at
                 : nullptr;
    Allocation *b = cta.launch.memory.find(address);
    if (!b || !b->contains(address, bytes))
      return nullptr;
    return b->data.data() + (address - b->address);
  }
  std::optional<uint64_t> read(uint64_t address, uint32_t bytes) const {
    const uint8_t *at = find(address, bytes);
    if (!at)
      return std::nullopt;
    uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    return value;
  }
  /// A string that ends, or nothing.
  std::optional<std::string> string(uint64_t address) const {
    std::string text;
    for (; text.size() < kMaxString; ++address) {
      const uint8_t *at = find(address, 1);
      if (!at)
        return std::nullopt;
      if (!*at)
        return text;
      text += char(*at);
    }
    return text + "...";
  }

private:
  Warp &w;
  unsigned lane;
};

/// Walks the arguments of one printf.
class Formatter {
public:
  Formatter(const LaneMemory &memory, uint64_t arguments)
      : memory(memory), next(arguments) {}

  /// False when an argument is not in memory.
  bool run(const std::string &format, std::string &out) {
    for (size_t at = 0; at < format.size();) {
      if (format[at] != '%') {
        out += format[at++];
        continue;
      }
      if (at + 1 < format.size() && format[at + 1] == '%') {
        out += '%';
        at += 2;
        continue;
      }
      if (!conversion(format, at, out))
        return false;
    }
    return true;
  }
  int32_t count = 0; ///< arguments so far

private:
  std::optional<uint64_t> take(uint32_t bytes) {
    next = (next + bytes - 1) / bytes * bytes;
    auto value = memory.read(next, bytes);
    next += bytes;
    ++count;
    return value;
  }
  static bool isIn(char c, const char *set) {
    return c && std::strchr(set, c) != nullptr;
  }

  /// %{flags}{width}{.precision}{length}type. A specification that is not one
  /// is printed as it stands.
  bool conversion(const std::string &format, size_t &at, std::string &out) {
    size_t from = at++;
    auto peek = [&] { return at < format.size() ? format[at] : '\0'; };
    while (isIn(peek(), "-+ #0"))
      ++at;
    size_t digits = 0;
    while (isIn(peek(), "0123456789.") && ++digits < 10)
      ++at;
    std::string spec = format.substr(from, at - from);
    bool isLong = false;
    while (isIn(peek(), "hlLqjzt"))
      isLong |= format[at++] != 'h';
    char type = peek();
    if (!isIn(type, "diouxXcspfFeEgGaA") || digits > 6) {
      out += format.substr(from, at - from);
      return true;
    }
    ++at;
    bool isFloat = isIn(type, "fFeEgGaA");
    bool isPointer = type == 's' || type == 'p';
    auto value = take(isFloat || isPointer || isLong ? 8 : 4);
    if (!value)
      return false;
    if (type == 's') {
      std::optional<std::string> text = "(null)";
      if (*value && !(text = memory.string(*value)))
        return false;
      print(out, spec + "s", text->c_str());
    } else if (isFloat) {
      double number;
      std::memcpy(&number, &*value, 8);
      print(out, spec + type, number);
    } else if (type == 'p') {
      print(out, spec + "#llx", (unsigned long long)*value);
    } else if (type == 'c') {
      print(out, spec + "c", int(*value));
    } else if (type == 'd' || type == 'i') {
      long long number = isLong ? (long long)*value : int32_t(*value);
      print(out, spec + "ll" + type, number);
    } else {
      print(out, spec + "ll" + type, (unsigned long long)*value);
    }
    return true;
  }

  template <typename T>
  static void print(std::string &out, const std::string &spec, T value) {
    char text[2 * kMaxString];
    int n = std::snprintf(text, sizeof(text), spec.c_str(), value);
    if (n > 0)
      out.append(text, std::min(size_t(n), sizeof(text) - 1));
  }

  const LaneMemory &memory;
  uint64_t next;
};
} // namespace

static uint64_t frameOf(const Warp &w, unsigned lane) {
  return w.calls ? w.calls->frame[lane] : 0;
}

/// Parameter `n` of a call by lane `l`.
static uint64_t parameter(Warp &w, const CallSite &site, unsigned l, size_t n) {
  const CallSite::Copy &c = site.arguments[n];
  auto value =
      LaneMemory(w, l).read(kLocalWindow + frameOf(w, l) + c.from, c.bytes);
  return value ? *value : 0;
}

/// Results go to the caller's frame; observers see them written.
static void storeResult(Warp &w, const CallSite &site, unsigned l,
                        uint64_t value) {
  for (const CallSite::Copy &c : site.results) {
    uint8_t *local = w.cta->local.data() +
                     size_t(w.index * 32 + l) * w.cta->launch.kernel.localBytes;
    std::memcpy(local + frameOf(w, l) + c.to, &value, c.bytes);
  }
}
static void notifyResults(Warp &w, const Instruction &i, const CallSite &site) {
  for (const CallSite::Copy &c : site.results) {
    uint64_t addresses[32];
    for (unsigned l = 0; l < 32; ++l)
      addresses[l] = frameOf(w, l) + c.to;
    if (!w.cta->onMemory.empty())
      notifyAccess(w, i, w.pc, AccessKind::Store, Space::Local, w.mask, c.bytes,
                   addresses, nullptr, nullptr, w.cta->rank);
  }
}

static Flow vprintf(Warp &w, const Instruction &i) {
  const CallSite &site = w.cta->launch.kernel.calls[i.aux];
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    LaneMemory memory(w, l);
    auto format = memory.string(parameter(w, site, l, 0));
    if (!format)
      return w.cta->fault(w, "printf", "the format of printf is not in memory",
                          int(l));
    Formatter formatter(memory, parameter(w, site, l, 1));
    std::string text;
    if (!formatter.run(*format, text))
      return w.cta->fault(w, "printf",
                          "argument " + std::to_string(formatter.count) +
                              " of printf is not in memory",
                          int(l));
    if (w.printed.size() < kMaxPrinted)
      w.printed += text;
    // CUDA's printf returns how many arguments it has taken.
    storeResult(w, site, l, uint32_t(formatter.count));
  }
  notifyResults(w, i, site);
  return Flow::Next;
}

static Flow mallocBlock(Warp &w, const Instruction &i) {
  const CallSite &site = w.cta->launch.kernel.calls[i.aux];
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    storeResult(w, site, l,
                w.cta->launch.heap.allocate(parameter(w, site, l, 0)));
  }
  notifyResults(w, i, site);
  return Flow::Next;
}

static Flow freeBlock(Warp &w, const Instruction &i) {
  const CallSite &site = w.cta->launch.kernel.calls[i.aux];
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t address = parameter(w, site, l, 0);
    if (address == 0 || w.cta->launch.heap.free(address))
      continue;
    char at[32];
    std::snprintf(at, sizeof(at), "0x%llx", (unsigned long long)address);
    return w.cta->fault(w, "heap",
                        std::string("free of ") + at +
                            ", where no block that malloc gave begins",
                        int(l));
  }
  return Flow::Next;
}

static Flow assertFail(Warp &w, const Instruction &i) {
  const CallSite &site = w.cta->launch.kernel.calls[i.aux];
  unsigned l = unsigned(__builtin_ctz(w.mask));
  LaneMemory memory(w, l);
  auto text = [&](size_t n) {
    auto found = memory.string(parameter(w, site, l, n));
    return found ? *found : "?";
  };
  return w.cta->fault(
      w, "assert",
      text(1) + ":" + std::to_string(uint32_t(parameter(w, site, l, 2))) +
          ": " + text(3) + ": assertion '" + text(0) + "' failed",
      int(l));
}

void ptxvm::addBuiltin(HandlerList &list) {
  static const NamedHandler kTable[] = {{"call_vprintf", vprintf},
                                        {"call_assertfail", assertFail},
                                        {"call_malloc", mallocBlock},
                                        {"call_free", freeBlock}};
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
