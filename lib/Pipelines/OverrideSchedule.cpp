//===- OverrideSchedule.cpp - a schedule from the command line ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First pass of the tile stage when a schedule was given as text. The text is
// checked key by key here, for messages that quote it; the attribute's own
// parser and verifier then judge the values.
//
//===----------------------------------------------------------------------===//
#include "fa/Pipelines/Passes.h"

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Support/Schedule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::fa {

#define GEN_PASS_DEF_FAOVERRIDESCHEDULE
#include "fa/Pipelines/Passes.h.inc"

namespace {

struct Key {
  StringLiteral name;
  bool isNumber;
};
constexpr Key kKeys[] = {
#define FA_SCHEDULE_NUMBER(key, ...) {#key, true},
#define FA_SCHEDULE_OTHER(key, ...) {#key, false},
    FA_SCHEDULE_KEYS(FA_SCHEDULE_NUMBER, FA_SCHEDULE_OTHER, FA_SCHEDULE_OTHER)
#undef FA_SCHEDULE_NUMBER
#undef FA_SCHEDULE_OTHER
};

bool isWord(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || StringRef("_-.").contains(c);
  });
}

std::string keyNames() {
  return llvm::join(
      llvm::map_range(kKeys,
                      [](const Key &key) { return StringRef(key.name); }),
      ", ");
}

/// Of any size; the attribute knows what is sensible.
bool isNumber(StringRef text) {
  text.consume_front("-");
  return llvm::all_of(text, llvm::isDigit);
}

/// "tile_q=64,state=shared" as the text of an attribute; "" after an error.
std::string attributeText(StringRef schedule, Location loc) {
  std::string text;
  llvm::StringSet<> seen;
  for (StringRef item : llvm::split(schedule, ',')) {
    auto [name, value] = item.split('=');
    const Key *key = llvm::find_if(
        kKeys, [name = name](const Key &known) { return known.name == name; });
    auto fail = [&](const Twine &why) {
      emitError(loc) << "schedule: '" << item << "'" << why;
      return "";
    };
    if (key == std::end(kKeys))
      return fail(" sets no key; accepted: " + keyNames());
    if (!isWord(value))
      return fail(" is not of the form KEY=V");
    if (key->isNumber && !isNumber(value))
      return fail(": " + name + " takes a whole number, found " + value);
    if (!seen.insert(name).second)
      return fail(": " + name + " is set twice");
    text += (text.empty() ? "" : ", ") + (name + " = " + value).str();
  }
  return "#fa.schedule<" + text + ">";
}

/// Null after an error at `loc`.
ScheduleAttr parseSchedule(StringRef schedule, Location loc) {
  std::string text = attributeText(schedule, loc);
  if (text.empty())
    return nullptr;
  std::string reason;
  Attribute attribute;
  {
    // The parser's places are inside a text that the user never wrote.
    ScopedDiagnosticHandler capture(loc.getContext(), [&](Diagnostic &diag) {
      if (reason.empty())
        reason = diag.str();
      return success();
    });
    attribute = parseAttribute(text, loc.getContext());
  }
  auto parsed = dyn_cast_if_present<ScheduleAttr>(attribute);
  if (!parsed)
    emitError(loc) << "schedule: '" << schedule << "': " << reason;
  return parsed;
}

/// `over`'s keys where it has them, else `base`'s.
ScheduleAttr merge(ScheduleAttr base, ScheduleAttr over) {
  if (!base)
    return over;
  auto pick = [](auto a, auto b) { return b ? b : a; };
#define FA_SCHEDULE_PICK(key, member, accessor, ...)                           \
  , pick(base.get##accessor(), over.get##accessor())
  return ScheduleAttr::get(over.getContext() FA_SCHEDULE_KEYS(
      FA_SCHEDULE_PICK, FA_SCHEDULE_PICK, FA_SCHEDULE_PICK));
#undef FA_SCHEDULE_PICK
}

struct OverrideSchedule final : impl::FAOverrideScheduleBase<OverrideSchedule> {
  using FAOverrideScheduleBase::FAOverrideScheduleBase;

  void runOnOperation() override {
    // The text has no place in the file.
    Location nowhere = UnknownLoc::get(&getContext());
    ScheduleAttr over = parseSchedule(schedule, nowhere);
    if (!over)
      return signalPassFailure();
    getOperation().walk([&](AttentionOp op) {
      op.setScheduleAttr(merge(op.getScheduleAttr(), over));
    });
  }
};

} // namespace

} // namespace mlir::fa
