//===- OverrideSchedule.cpp - a schedule from the command line ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First pass of the tile stage when a schedule was given as text. Only its form
// is checked here; keys and values are judged where the attribute is parsed.
//
//===----------------------------------------------------------------------===//
#include "fa/Pipelines/Passes.h"

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Support/Schedule.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::fa {

#define GEN_PASS_DEF_FAOVERRIDESCHEDULE
#include "fa/Pipelines/Passes.h.inc"

namespace {

/// A name as MLIR reads one.
bool isName(StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

bool isValue(StringRef text) {
  return !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || StringRef("_-.").contains(c);
  });
}

/// A value that MLIR reads as tokens, so that the key itself refuses it: no
/// token begins with a dot, and a dash in front of '>' would be an arrow.
std::string spellValue(StringRef value) {
  return value.starts_with(".") ? ("\"" + value + "\"").str()
                                : (value + " ").str();
}

/// "tile_q=64,state=shared" as the text of an attribute; "" after an error.
std::string attributeText(StringRef schedule, Location loc) {
  std::string text;
  for (StringRef item : llvm::split(schedule, ',')) {
    auto [name, value] = item.split('=');
    if (!isName(name) || !isValue(value)) {
      emitError(loc) << "schedule: '" << item << "' is not of the form KEY=V";
      return "";
    }
    text +=
        (text.empty() ? "" : ", ") + (name + " = " + spellValue(value)).str();
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
