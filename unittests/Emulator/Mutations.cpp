//===- Mutations.cpp - right kernels made wrong
//----------------------------===//
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

Report test::runChecked(const Subject &subject, const std::string &ptx,
                        const std::string &order) {
  Report report;
  report.status = Status::Invalid;
  auto module = Module::parse(ptx, "mutant.ptx");
  if (!module) {
    report.diagnostics.push_back(module.error());
    return report;
  }
  DeviceOptions options;
  options.order = *OrderPolicy::parse(order);
  options.maxInstructions = 1 << 22;
  Device device(options);
  auto checkers = CheckerSet::parse("all");
  checkers->attach(device);
  std::vector<Argument> arguments = subject.arguments(device);
  return device.launch(*module, subject.kernel, subject.shape, arguments);
}

static std::string textOf(const Report &report) {
  std::string text = statusName(report.status);
  for (const Diagnostic &d : report.diagnostics)
    text += "\n  " + d.str();
  return text;
}

void test::expectCaught(const Subject &subject, const MutationCase &c) {
  std::optional<std::string> mutant = c.mutate(subject.ptx);
  ASSERT_TRUE(mutant) << "the kernel has no place for this mutation";
  ASSERT_NE(*mutant, subject.ptx);
  std::string seen;
  for (const char *order :
       {"round-robin", "reverse", "random:1", "random:2", "random:3"}) {
    Report r = runChecked(subject, *mutant, order);
    ASSERT_NE(r.status, Status::Invalid) << textOf(r);
    for (const Diagnostic &d : r.diagnostics)
      if (d.origin == c.checker) {
        // Every report says where.
        EXPECT_NE(d.location.line, 0u) << d.str();
        EXPECT_EQ(d.points.empty(), false) << d.str();
        return;
      }
    seen += std::string("\n") + order + ": " + textOf(r);
  }
  ADD_FAILURE() << "'" << c.checker << "' does not find it:" << seen;
}

void test::expectClean(const Subject &subject) {
  for (const char *order : {"round-robin", "reverse", "random:1..20"}) {
    Report r = runChecked(subject, subject.ptx, order);
    EXPECT_TRUE(r.ok()) << order << ": " << textOf(r);
  }
}

std::string test::readInput(const std::string &name) {
  std::ifstream file(std::string(FA_EMULATOR_INPUTS) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << "no input " << name;
  return text.str();
}
