//===- FASchedule.cpp - schedules as attributes -----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The syntax of #fa.schedule and what its keys take. What fits a chip is none
// of this file's business: see SelectSchedule.cpp.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "fa/Support/Schedule.h"
#include "fa/Support/Text.h"
#include "fa/Target/TargetInfo.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::fa;

/// Far beyond any chip, and small enough that sizes computed from the keys
/// cannot overflow.
static constexpr int64_t kMaxScheduleKey = 65536;

namespace {
/// The numbers that a key takes: from `first` to `last`, or one of the two.
struct KeyNumbers {
  int64_t first, last;
  bool isEither = false;

  bool contain(int64_t number) const {
    return isEither ? number == first || number == last
                    : number >= first && number <= last;
  }
  std::string str() const {
    auto [opening, joint] =
        isEither ? std::pair("", " or ") : std::pair("between ", " and ");
    return opening + std::to_string(first) + joint + std::to_string(last);
  }
};

/// The numbers of this key.
KeyNumbers getAccepted(StringRef name) {
  return llvm::StringSwitch<KeyNumbers>(name)
      .Case("producers", {0, kWarpsPerWarpgroup, /*isEither=*/true})
      .Case("cluster", {1, 2, /*isEither=*/true})
      .Case("polynomial", {0, kMaxScheduleKey})
      .Default({1, kMaxScheduleKey});
}

/// The attribute's parameters, in their order.
struct ScheduleKeys {
#define FA_SCHEDULE_NUMBER(key, member, ...) std::optional<int64_t> member;
#define FA_SCHEDULE_WORD(key, member, accessor, ...)                           \
  std::optional<accessor##Kind> member;
#define FA_SCHEDULE_FLAG(key, member, ...) std::optional<bool> member;
  FA_SCHEDULE_KEYS(FA_SCHEDULE_NUMBER, FA_SCHEDULE_WORD, FA_SCHEDULE_FLAG)
#undef FA_SCHEDULE_NUMBER
#undef FA_SCHEDULE_WORD
#undef FA_SCHEDULE_FLAG

  /// Calls `visit` with the name and the value of each key.
  template <typename Visit> void forEach(Visit visit) {
#define FA_SCHEDULE_VISIT(key, member, ...) visit(#key, member);
    FA_SCHEDULE_KEYS(FA_SCHEDULE_VISIT, FA_SCHEDULE_VISIT, FA_SCHEDULE_VISIT)
#undef FA_SCHEDULE_VISIT
  }
};

/// Reads what stands behind `KEY =`.
class KeyReader {
public:
  KeyReader(AsmParser &parser, StringRef name)
      : parser(parser), name(name), loc(parser.getCurrentLocation()),
        text(findValue(loc.getPointer())) {}

  ParseResult read(std::optional<int64_t> &key) {
    KeyNumbers accepted = getAccepted(name);
    StringRef digits = getDigits();
    if (digits.empty())
      return refuse((accepted.isEither ? "" : "a whole number ") +
                    accepted.str());
    // By its length first: to convert many digits takes a time of their square.
    APInt number;
    if (digits.ltrim('0').size() > kMaxDigits ||
        !parser.parseOptionalInteger(number).has_value() ||
        number.getSignificantBits() > 64 ||
        !accepted.contain(number.getSExtValue()))
      return refuse(accepted.str());
    key = number.getSExtValue();
    return success();
  }
  ParseResult read(std::optional<StateKind> &key) {
    key = symbolizeEnum<StateKind>(readWord());
    return key ? success() : refuse("registers or shared");
  }
  ParseResult read(std::optional<QueryKind> &key) {
    key = symbolizeEnum<QueryKind>(readWord());
    return key ? success() : refuse("shared or registers");
  }
  ParseResult read(std::optional<bool> &key) {
    StringRef word = readWord();
    key = word == "true";
    return *key || word == "false" ? success() : refuse("true or false");
  }

private:
  /// As many as a number of 64 bits has.
  static constexpr size_t kMaxDigits = 20;
  /// Of a text that is shown.
  static constexpr size_t kMaxShown = 40;

  /// The value that begins here, whatever a parser makes of it: a string or a
  /// list as a whole, else all up to a space or what may stand behind a value.
  /// A source ends with a NUL and may be far more than a value, so no
  /// StringRef is made of all of it.
  static StringRef findValue(const char *begin) {
    const char *end = begin;
    auto isAtEnd = [&] { return *end == '\0' || *end == '\n'; };
    if (*begin == '"' || *begin == '[') {
      char last = *begin == '"' ? '"' : ']';
      for (++end; !isAtEnd() && *end != last; ++end)
        if (*end == '\\' && end[1] != '\0' && end[1] != '\n')
          ++end;
      return StringRef(begin, end - begin + (*end == last ? 1 : 0));
    }
    while (*end && !llvm::isSpace(*end) && !StringRef(",>/").contains(*end))
      ++end;
    // A delimiter alone is what there is instead of a value.
    if (end == begin && *end)
      ++end;
    return StringRef(begin, end - begin);
  }

  /// The digits where the text is one number, else none; the parser takes
  /// `true` for 1 as well, and the beginning of 1x.
  StringRef getDigits() const {
    StringRef digits = text;
    digits.consume_front("-");
    bool isHex = digits.consume_front("0x");
    bool isNumber = llvm::all_of(digits, [&](char c) {
      return isHex ? llvm::isHexDigit(c) : llvm::isDigit(c);
    });
    return isNumber ? digits : StringRef();
  }
  /// Empty where there is none.
  StringRef readWord() {
    StringRef word;
    (void)parser.parseOptionalKeyword(&word);
    return word;
  }

  ParseResult refuse(const Twine &accepted) {
    InFlightDiagnostic error = parser.emitError(loc);
    error << "schedule key '" << name << "' must be " << accepted << ", found ";
    if (text.empty())
      return error << "the end";
    return error << farun::shorten(std::string_view(text), kMaxShown);
  }

  AsmParser &parser;
  StringRef name;
  SMLoc loc;
  StringRef text; ///< what there is, whatever a parser makes of it
};
} // namespace

/// One `KEY = VALUE` of those that are not given yet.
static ParseResult parseKey(AsmParser &parser, ScheduleKeys &keys) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  auto read = [&](auto &key) -> ParseResult {
    if (key)
      return parser.emitError(loc)
             << "schedule key '" << name << "' is given twice";
    if (parser.parseEqual())
      return failure();
    return KeyReader(parser, name).read(key);
  };
  std::optional<ParseResult> result;
  SmallVector<StringRef> names;
  keys.forEach([&](StringRef known, auto &key) {
    names.push_back(known);
    if (known == name)
      result = read(key);
  });
  if (result)
    return *result;
  return parser.emitError(loc)
         << "unknown schedule key '" << name << "', expected one of "
         << llvm::join(names, ", ");
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  ScheduleKeys keys;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parseKey(parser, keys); }))
    return {};
#define FA_SCHEDULE_MEMBER(key, member, ...) , keys.member
  return parser.getChecked<ScheduleAttr>(
      loc, parser.getContext() FA_SCHEDULE_KEYS(
               FA_SCHEDULE_MEMBER, FA_SCHEDULE_MEMBER, FA_SCHEDULE_MEMBER));
#undef FA_SCHEDULE_MEMBER
}

static void printValue(AsmPrinter &printer, bool flag) {
  printer << (flag ? "true" : "false");
}
static void printValue(AsmPrinter &printer, int64_t number) {
  printer << number;
}
template <typename Enum>
static void printValue(AsmPrinter &printer, Enum kind) {
  printer << stringifyEnum(kind);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
#define FA_SCHEDULE_GET(key, member, accessor, ...) get##accessor(),
  ScheduleKeys keys{
      FA_SCHEDULE_KEYS(FA_SCHEDULE_GET, FA_SCHEDULE_GET, FA_SCHEDULE_GET)};
#undef FA_SCHEDULE_GET
  StringRef before = "<";
  keys.forEach([&](StringRef name, auto &key) {
    if (!key)
      return;
    printer << std::exchange(before, ", ") << name << " = ";
    printValue(printer, *key);
  });
  printer << (before == "<" ? "<>" : ">");
}

// schedule_c1
LogicalResult ScheduleAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, std::optional<int64_t> tileQ,
    std::optional<int64_t> tileKV, std::optional<int64_t> warps,
    std::optional<int64_t> stages, std::optional<StateKind> state,
    std::optional<int64_t> splits, std::optional<QueryKind> query,
    std::optional<bool> pingpong, std::optional<int64_t> producers,
    std::optional<bool> persistent, std::optional<int64_t> cluster,
    std::optional<int64_t> polynomial) {
  ScheduleKeys keys{tileQ,     tileKV,     warps,   stages,
                    state,     splits,     query,   pingpong,
                    producers, persistent, cluster, polynomial};
  LogicalResult result = success();
  keys.forEach([&](StringRef name, auto &key) {
    if constexpr (std::is_same_v<decltype(key), std::optional<int64_t> &>)
      if (KeyNumbers accepted = getAccepted(name);
          succeeded(result) && key && !accepted.contain(*key))
        result = emitError() << "schedule key '" << name << "' must be "
                             << accepted.str() << ", found " << *key;
  });
  return result;
}
