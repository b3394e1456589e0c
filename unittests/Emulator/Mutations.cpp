//===- Mutations.cpp - right kernels made wrong ---------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statements are found in the text: they begin behind ';', '{', '}', a label's
// ':' or a line's end, and end with ';'. "::" is no label.
//
//===----------------------------------------------------------------------===//
#include "Mutations.h"

#include "fa/Emulator/TensorMap.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace ptxvm;
using namespace ptxvm::test;

namespace {
struct Span {
  size_t begin, end;
};

/// The places of the nth `text`, or of all.
std::vector<size_t> findPlaces(const std::string &ptx, const std::string &text,
                               unsigned nth) {
  std::vector<size_t> places;
  unsigned count = 0;
  for (size_t at = ptx.find(text); at != std::string::npos;
       at = ptx.find(text, at + text.size()))
    if (++count == nth || nth == kAll)
      places.push_back(at);
  return places;
}

Span statementAt(const std::string &ptx, size_t at) {
  size_t begin = at;
  auto isStart = [&](size_t k) {
    char before = ptx[k - 1];
    bool isLabel = before == ':' && ptx[k] != ':' && k > 1 && ptx[k - 2] != ':';
    return before == ';' || before == '\n' || isLabel;
  };
  while (begin > 0 && !isStart(begin))
    --begin;
  begin = std::min(ptx.find_first_not_of(" \t", begin), at);
  return {begin, ptx.find(';', at) + 1};
}

/// Applies `change(text, span)` to the statements, the last one first.
template <typename Change>
Mutation onStatements(std::string text, unsigned nth, Change change) {
  return [=](const std::string &ptx) -> std::optional<std::string> {
    std::vector<size_t> places = findPlaces(ptx, text, nth);
    if (places.empty())
      return std::nullopt;
    std::string result = ptx;
    for (size_t k = places.size(); k-- > 0;)
      if (!change(result, statementAt(result, places[k])))
        return std::nullopt;
    return result;
  };
}
} // namespace

Mutation test::drop(std::string text, unsigned nth) {
  return onStatements(std::move(text), nth, [](std::string &ptx, Span s) {
    for (size_t k = s.begin; k < s.end; ++k)
      if (ptx[k] != '\n')
        ptx[k] = ' ';
    return true;
  });
}

Mutation test::replace(std::string text, std::string by, unsigned nth) {
  return [=](const std::string &ptx) -> std::optional<std::string> {
    std::vector<size_t> places = findPlaces(ptx, text, nth);
    if (places.empty())
      return std::nullopt;
    std::string result = ptx;
    for (size_t k = places.size(); k-- > 0;)
      result.replace(places[k], text.size(), by);
    return result;
  };
}

Mutation test::unguard(std::string text, unsigned nth) {
  return onStatements(std::move(text), nth, [](std::string &ptx, Span s) {
    if (ptx[s.begin] != '@')
      return false;
    size_t end = ptx.find_first_of(" \t", s.begin);
    ptx.replace(s.begin, end - s.begin, end - s.begin, ' ');
    return true;
  });
}

Mutation test::repeat(std::string text, unsigned nth) {
  return onStatements(std::move(text), nth, [](std::string &ptx, Span s) {
    ptx.insert(s.end, " " + ptx.substr(s.begin, s.end - s.begin));
    return true;
  });
}

Mutation test::moveUp(std::string text, std::string before, unsigned nth) {
  return onStatements(std::move(text), nth, [=](std::string &ptx, Span s) {
    size_t to = ptx.rfind(before, s.begin);
    if (to == std::string::npos)
      return false;
    std::string statement = ptx.substr(s.begin, s.end - s.begin);
    ptx.replace(s.begin, statement.size(), statement.size(), ' ');
    ptx.insert(statementAt(ptx, to).begin, statement + " ");
    return true;
  });
}

Mutation test::both(Mutation first, Mutation second) {
  return [=](const std::string &ptx) -> std::optional<std::string> {
    std::optional<std::string> half = first(ptx);
    return half ? second(*half) : std::nullopt;
  };
}

Mutation test::rewrite(std::string text, std::string statement, unsigned nth) {
  return onStatements(std::move(text), nth, [=](std::string &ptx, Span s) {
    ptx.replace(s.begin, s.end - s.begin, statement);
    return true;
  });
}

Mutation test::insertBefore(std::string text, std::string extra, unsigned nth) {
  return onStatements(std::move(text), nth, [=](std::string &ptx, Span s) {
    ptx.insert(s.begin, extra + " ");
    return true;
  });
}

namespace {
struct Outcome {
  Report report;
  std::vector<uint8_t> bytes; ///< of all buffers that the kernel may write
};

/// The address that an argument hands to the kernel, by a pointer or a map.
uint64_t addressIn(const Argument &a) {
  uint64_t address = 0;
  if (a.bytes.size() == 8)
    std::memcpy(&address, a.bytes.data(), 8);
  if (a.bytes.size() == 128)
    if (std::optional<TensorMapShape> map = unpackTensorMap(a.bytes.data()))
      address = map->address;
  return address;
}

Outcome run(const Subject &subject, const std::string &ptx,
            const std::string &order, const std::string &checks = "all") {
  Outcome result;
  Report &report = result.report;
  report.status = Status::Invalid;
  auto module = Module::parse(ptx, "mutant.ptx");
  if (!module) {
    report.diagnostics.push_back(module.error());
    return result;
  }
  DeviceOptions options;
  options.order = *OrderPolicy::parse(order);
  options.maxInstructions = 1 << 22;
  Device device(options);
  auto checkers = CheckerSet::parse(checks);
  checkers->attach(device);
  std::vector<Argument> arguments = subject.arguments(device);
  report = device.launch(*module, subject.kernel, subject.shape, arguments);
  for (const Argument &a : arguments)
    if (const Allocation *buffer = device.findAllocation(addressIn(a)))
      if (!buffer->readOnly)
        result.bytes.insert(result.bytes.end(), buffer->data.begin(),
                            buffer->data.end());
  return result;
}

std::string textOf(const Report &report) {
  std::string text = statusName(report.status);
  for (const Diagnostic &d : report.diagnostics)
    text += "\n  " + d.str();
  return text;
}

/// Where and what: what every report has to say.
void expectLocated(const Diagnostic &d) {
  EXPECT_NE(d.location.line, 0u) << d.str();
  EXPECT_FALSE(d.points.empty()) << d.str();
  for (const ExecutionPoint &p : d.points)
    EXPECT_FALSE(p.kernel.empty()) << d.str();
}

/// Looks for a finding of the checker in some orders; `seen` says what there
/// was instead.
bool isFound(const Subject &subject, const std::string &mutant,
             const MutationCase &c, std::string &seen) {
  std::vector<std::string> orders = {"round-robin", "reverse", "random:1",
                                     "random:2", "random:3"};
  std::string checks = "all";
  if (c.checker == "determinism") {
    // A finding of another one would end the comparison.
    orders = {"random:1..8"};
    checks = "none";
  } else if (c.checker == "equal-writes") {
    checks = "all,equal-writes";
  }
  for (const std::string &order : orders) {
    Report r = run(subject, mutant, order, checks).report;
    if (r.status == Status::Invalid) {
      ADD_FAILURE() << textOf(r);
      return true;
    }
    for (const Diagnostic &d : r.diagnostics)
      if (d.origin == c.checker &&
          d.message.find(c.message) != std::string::npos) {
        expectLocated(d);
        return true;
      }
    seen += "\n" + order + ": " + textOf(r);
  }
  return false;
}
} // namespace

Report test::runChecked(const Subject &subject, const std::string &ptx,
                        const std::string &order) {
  return run(subject, ptx, order).report;
}

void test::expectCaught(const Subject &subject, const MutationCase &c) {
  std::optional<std::string> mutant = c.mutate(subject.ptx);
  ASSERT_TRUE(mutant) << "the kernel has no place for this mutation";
  ASSERT_NE(*mutant, subject.ptx);
  if (c.checker == "numbers") {
    Outcome right = run(subject, subject.ptx, "round-robin"),
            wrong = run(subject, *mutant, "round-robin");
    ASSERT_FALSE(right.bytes.empty());
    ASSERT_NE(wrong.report.status, Status::Invalid) << textOf(wrong.report);
    EXPECT_NE(right.bytes, wrong.bytes) << textOf(wrong.report);
    return;
  }
  std::string seen;
  EXPECT_TRUE(isFound(subject, *mutant, c, seen))
      << "'" << c.checker << "' does not find it:" << seen;
}

void test::expectMissed(const Subject &subject, const MutationCase &c) {
  std::optional<std::string> mutant = c.mutate(subject.ptx);
  ASSERT_TRUE(mutant) << "the kernel has no place for this mutation";
  std::string seen;
  EXPECT_FALSE(isFound(subject, *mutant, c, seen))
      << "'" << c.checker << "' finds it now: move it to the others";
}

void test::expectClean(const Subject &subject) {
  for (const char *order : {"round-robin", "reverse", "random:1..20"}) {
    Report r = runChecked(subject, subject.ptx, order);
    EXPECT_TRUE(r.ok()) << order << ": " << textOf(r);
  }
}

static std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << "no input " << path;
  return text.str();
}

std::string test::readInput(const std::string &name) {
  return readFile(std::string(FA_EMULATOR_INPUTS) + "/" + name);
}

std::string test::readCompiled(const std::string &file,
                               const std::string &entry) {
  std::string text = readFile(std::string(FA_COMPILED_PTX_DIR) +
                              "/CUDA/Inputs/" + file + ".ptx");
  const std::string begin = ".visible .entry ";
  EXPECT_NE(text.find(begin + entry + "("), std::string::npos) << entry;
  for (size_t at = text.find(begin); at != std::string::npos;
       at = text.find(begin, at + 1)) {
    if (text.compare(at + begin.size(), entry.size() + 1, entry + "(") == 0)
      continue;
    for (size_t end = text.find("\n\n}", at) + 3; at < end; ++at)
      if (text[at] != '\n')
        text[at] = ' ';
  }
  return text;
}
