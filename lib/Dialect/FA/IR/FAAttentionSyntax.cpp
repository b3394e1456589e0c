//===- FAAttentionSyntax.cpp - text of fa.attention and fa.merge ----------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clauses of fa.attention are read in any order and printed in one. Most
// of them hold operands only and live in one table, which the parser and the
// printer share.
//===----------------------------------------------------------------------===//

#include "fa/Dialect/FA/IR/FADialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::fa;

namespace {
using Operand = OpAsmParser::UnresolvedOperand;

/// The operand groups of fa.attention in the order of its definition.
enum Segment {
  kQuery,
  kKey,
  kValue,
  kScaleOperand,
  kBias,
  kMask,
  kAlibi,
  kSink,
  kQLengths,
  kKVLengths,
  kQSegments,
  kKVSegments,
  kQScales,
  kKScales,
  kVScales,
  kQOffsets,
  kKVOffsets,
  kPages,
  kSeed,
  kOuts,
  kNumSegments
};

/// A clause `keyword(%a, ... : type, ...)` with one operand for each segment.
struct OperandClause {
  StringLiteral keyword;
  Segment first;
  unsigned count;
};

constexpr OperandClause kOperandClauses[] = {
    {"bias", kBias, 1},          {"mask", kMask, 1},
    {"alibi", kAlibi, 1},        {"sink", kSink, 1},
    {"q_lengths", kQLengths, 1}, {"kv_lengths", kKVLengths, 1},
    {"segments", kQSegments, 2}, {"scales", kQScales, 3},
    {"q_offsets", kQOffsets, 1}, {"kv_offsets", kKVOffsets, 1},
    {"pages", kPages, 1},
};

/// Reads the clauses and keeps their operands until all types are known.
class ClauseParser {
public:
  ClauseParser(OpAsmParser &parser, OperationState &result)
      : parser(parser), result(result), score(result.addRegion()),
        visible(result.addRegion()) {}

  ParseResult parseClauses();
  ParseResult parseAttributes();
  /// The query, key and value operands; their types come last in the text.
  ParseResult parseInputs();
  ParseResult parseTypes();

private:
  ParseResult parseClause(SMLoc loc, StringRef keyword);
  ParseResult parseOperands(StringRef keyword, Segment first, unsigned least,
                            unsigned most, bool oneSegment = false);
  ParseResult parseRegion(StringRef keyword, Region &region);
  ParseResult parseScale();
  ParseResult parseFloat(StringRef name);
  ParseResult parseMasks();
  ParseResult parseDropout();
  ParseResult parseOperand(Segment segment, Type type);

  OpAsmParser &parser;
  OperationState &result;
  Region *score;
  Region *visible;
  llvm::StringSet<> seen;
  SmallVector<std::pair<Operand, Type>, 2> operands[kNumSegments];
};
} // namespace

ParseResult ClauseParser::parseInputs() {
  for (Segment segment : {kQuery, kKey, kValue}) {
    if (segment != kQuery && parser.parseComma())
      return failure();
    if (parseOperand(segment, Type()))
      return failure();
  }
  return success();
}

ParseResult ClauseParser::parseOperand(Segment segment, Type type) {
  Operand operand;
  if (parser.parseOperand(operand))
    return failure();
  operands[segment].push_back({operand, type});
  return success();
}

ParseResult ClauseParser::parseClauses() {
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword)))
      return success();
    if (!seen.insert(keyword).second)
      return parser.emitError(loc)
             << "clause '" << keyword << "' is given twice";
    if (parseClause(loc, keyword))
      return failure();
  }
}

ParseResult ClauseParser::parseClause(SMLoc loc, StringRef keyword) {
  for (const OperandClause &clause : kOperandClauses)
    if (keyword == clause.keyword)
      return parseOperands(keyword, clause.first, clause.count, clause.count);
  if (keyword == "outs")
    return parseOperands(keyword, kOuts, 1, 2, /*oneSegment=*/true);
  if (keyword == "scale")
    return parseScale();
  if (keyword == "softcap")
    return parseFloat("softcap");
  if (keyword == "masks")
    return parseMasks();
  if (keyword == "dropout")
    return parseDropout();
  if (keyword == "score")
    return parseRegion(keyword, *score);
  if (keyword == "visible")
    return parseRegion(keyword, *visible);

  InFlightDiagnostic diag = parser.emitError(loc);
  diag << "unknown clause '" << keyword
       << "', expected one of scale, masks, softcap";
  for (const OperandClause &clause : kOperandClauses)
    diag << ", " << StringRef(clause.keyword);
  return diag << ", dropout, score, visible, outs";
}

/// `(%a, %b : type, type)`, into one segment or one segment each.
ParseResult ClauseParser::parseOperands(StringRef keyword, Segment first,
                                        unsigned least, unsigned most,
                                        bool oneSegment) {
  SmallVector<Operand> names;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperandList(names) ||
      parser.parseColonTypeList(types) || parser.parseRParen())
    return failure();
  if (names.size() < least || names.size() > most) {
    InFlightDiagnostic diag = parser.emitError(loc);
    diag << "clause '" << keyword << "' takes " << least;
    if (most != least)
      diag << " or " << most;
    return diag << (most == 1 ? " operand" : " operands") << ", found "
                << names.size();
  }
  if (names.size() != types.size())
    return parser.emitError(loc)
           << "clause '" << keyword << "' has " << names.size()
           << " operands and " << types.size() << " types";
  for (auto [index, name] : llvm::enumerate(names)) {
    size_t segment = first + (oneSegment ? 0 : index);
    operands[segment].push_back({name, types[index]});
  }
  return success();
}

/// An empty region is that of a clause which is not there.
ParseResult ClauseParser::parseRegion(StringRef keyword, Region &region) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseRegion(region))
    return failure();
  if (!region.empty())
    return success();
  return parser.emitError(loc)
         << "clause '" << keyword << "' expected a block, found none";
}

/// `(0.125)` or `(%s : f32)`.
ParseResult ClauseParser::parseScale() {
  if (parser.parseLParen())
    return failure();
  Operand operand;
  OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
  if (isOperand.has_value()) {
    Type type;
    if (failed(*isOperand) || parser.parseColonType(type) ||
        parser.parseRParen())
      return failure();
    operands[kScaleOperand].push_back({operand, type});
    return success();
  }
  FloatAttr number;
  if (parser.parseAttribute(number, parser.getBuilder().getF64Type(), "scale",
                            result.attributes))
    return failure();
  return parser.parseRParen();
}

ParseResult ClauseParser::parseFloat(StringRef name) {
  FloatAttr number;
  if (parser.parseLParen() ||
      parser.parseAttribute(number, parser.getBuilder().getF64Type(), name,
                            result.attributes))
    return failure();
  return parser.parseRParen();
}

ParseResult ClauseParser::parseMasks() {
  SmallVector<Attribute> masks;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            SMLoc loc = parser.getCurrentLocation();
            Attribute mask;
            if (parser.parseAttribute(mask))
              return failure();
            if (!isa<MaskAttr>(mask))
              return parser.emitError(loc)
                     << "expected a structural mask such as "
                        "#fa.causal<top_left>, found "
                     << mask;
            masks.push_back(mask);
            return success();
          }))
    return failure();
  result.addAttribute("masks", parser.getBuilder().getArrayAttr(masks));
  return success();
}

/// `(0.1, seed = %seed : i64)`.
ParseResult ClauseParser::parseDropout() {
  FloatAttr number;
  Operand seed;
  Type type;
  if (parser.parseLParen() ||
      parser.parseAttribute(number, parser.getBuilder().getF64Type(), "dropout",
                            result.attributes) ||
      parser.parseComma() || parser.parseKeyword("seed") ||
      parser.parseEqual() || parser.parseOperand(seed) ||
      parser.parseColonType(type) || parser.parseRParen())
    return failure();
  operands[kSeed].push_back({seed, type});
  return success();
}

/// `-> type, type`, with or without brackets; nothing on memrefs.
static ParseResult parseResultTypes(OpAsmParser &parser,
                                    OperationState &result) {
  if (failed(parser.parseOptionalArrow()))
    return success();
  bool inBrackets = succeeded(parser.parseOptionalLParen());
  SmallVector<Type> types;
  if (parser.parseTypeList(types) || (inBrackets && parser.parseRParen()))
    return failure();
  result.addTypes(types);
  return success();
}

static void printResultTypes(OpAsmPrinter &p, Operation *op) {
  if (op->getNumResults() != 0)
    p << " -> " << op->getResultTypes();
}

/// The attribute dictionary, in which layout, precision and empty_row may be
/// given as a string or as a bare word.
static ParseResult parseAttributesWithWords(OpAsmParser &parser,
                                            OperationState &result,
                                            ArrayRef<StringRef> words) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::OptionalBraces, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        std::string name;
        if (parser.parseKeywordOrString(&name))
          return failure();
        if (result.attributes.get(name))
          return parser.emitError(loc)
                 << "attribute '" << name << "' is given twice";
        if (name == "operandSegmentSizes" || name == "operand_segment_sizes")
          return parser.emitError(loc)
                 << "attribute '" << name
                 << "' is not written: the operands say it";
        Attribute attr = parser.getBuilder().getUnitAttr();
        if (succeeded(parser.parseOptionalEqual())) {
          std::string word;
          if (llvm::is_contained(words, name) &&
              succeeded(parser.parseOptionalKeywordOrString(&word)))
            attr = parser.getBuilder().getStringAttr(word);
          else if (parser.parseAttribute(attr))
            return failure();
        }
        result.addAttribute(name, attr);
        return success();
      });
}

ParseResult ClauseParser::parseAttributes() {
  SMLoc loc = parser.getCurrentLocation();
  if (parseAttributesWithWords(parser, result,
                               {"layout", "precision", "empty_row"}))
    return failure();
  return AttentionOp::verifyInherentAttrs(result.name, result.attributes, [&] {
    return parser.emitError(loc) << "'" << result.name << "' op ";
  });
}

ParseResult ClauseParser::parseTypes() {
  SmallVector<Type> inputs;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(inputs))
    return failure();
  if (inputs.size() != 3)
    return parser.emitError(loc)
           << "expected the 3 types of query, key and value, found "
           << inputs.size();
  if (parseResultTypes(parser, result))
    return failure();
  for (Segment segment : {kQuery, kKey, kValue})
    operands[segment][0].second = inputs[segment];

  auto &sizes =
      result.getOrAddProperties<AttentionOp::Properties>().operandSegmentSizes;
  for (auto [segment, group] : llvm::enumerate(operands)) {
    sizes[segment] = group.size();
    for (auto &[operand, type] : group)
      if (parser.resolveOperand(operand, type, result.operands))
        return failure();
  }
  return success();
}

ParseResult AttentionOp::parse(OpAsmParser &parser, OperationState &result) {
  ClauseParser clauses(parser, result);
  return failure(clauses.parseInputs() || clauses.parseClauses() ||
                 clauses.parseAttributes() || clauses.parseTypes());
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printOperands(OpAsmPrinter &p, StringRef keyword,
                          OperandRange operands) {
  if (operands.empty())
    return;
  p << ' ' << keyword << '(' << operands << " : " << operands.getTypes() << ')';
}

static void printFloat(OpAsmPrinter &p, StringRef keyword, FloatAttr number) {
  if (!number)
    return;
  p << ' ' << keyword << '(';
  p.printAttributeWithoutType(number);
  p << ')';
}

/// The operands of `count` segments from `first` on.
static OperandRange getSegments(AttentionOp op, unsigned first,
                                unsigned count) {
  auto [begin, size] = op.getODSOperandIndexAndLength(first);
  auto [last, lastSize] = op.getODSOperandIndexAndLength(first + count - 1);
  return op->getOperands().slice(begin, last + lastSize - begin);
}

void AttentionOp::print(OpAsmPrinter &p) {
  p << ' ' << getQuery() << ", " << getKey() << ", " << getValue();
  printFloat(p, "scale", getScaleAttr());
  printOperands(p, "scale", getSegments(*this, kScaleOperand, 1));
  if (ArrayAttr masks = getMasksAttr())
    p << " masks " << masks;
  printFloat(p, "softcap", getSoftcapAttr());
  for (const OperandClause &clause : kOperandClauses)
    printOperands(p, clause.keyword,
                  getSegments(*this, clause.first, clause.count));
  if (FloatAttr dropout = getDropoutAttr()) {
    p << " dropout(";
    p.printAttributeWithoutType(dropout);
    p << ", seed = " << getSeed() << " : " << getSeed().getType() << ')';
  }
  for (auto [keyword, region] :
       {std::pair("score", &getScore()), {"visible", &getVisible()}}) {
    if (region->empty())
      continue;
    p << ' ' << keyword << ' ';
    p.printRegion(*region);
  }
  printOperands(p, "outs", getOuts());
  p.printOptionalAttrDict((*this)->getAttrs(),
                          {getOperandSegmentSizesAttrName(), getScaleAttrName(),
                           getMasksAttrName(), getSoftcapAttrName(),
                           getDropoutAttrName()});
  p << " : " << getQuery().getType() << ", " << getKey().getType() << ", "
    << getValue().getType();
  printResultTypes(p, *this);
}

//===----------------------------------------------------------------------===//
// fa.merge
//===----------------------------------------------------------------------===//

ParseResult MergeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Operand> partials, lses, outs;
  SmallVector<Type> types, outTypes;
  do {
    if (parser.parseLParen() || parser.parseOperand(partials.emplace_back()) ||
        parser.parseComma() || parser.parseOperand(lses.emplace_back()) ||
        parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  SMLoc outsLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("outs")) &&
      (parser.parseLParen() || parser.parseOperandList(outs) ||
       parser.parseColonTypeList(outTypes) || parser.parseRParen()))
    return failure();

  SMLoc attributesLoc = parser.getCurrentLocation();
  if (parseAttributesWithWords(parser, result, {"layout"}) ||
      failed(MergeOp::verifyInherentAttrs(result.name, result.attributes, [&] {
        return parser.emitError(attributesLoc) << "'" << result.name << "' op ";
      })))
    return failure();

  SMLoc typesLoc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types) || parseResultTypes(parser, result))
    return failure();
  if (types.size() != 2 * partials.size())
    return parser.emitError(typesLoc)
           << "expected " << 2 * partials.size()
           << " types, two for each partial result, found " << types.size();
  for (auto [index, operand] : llvm::enumerate(partials))
    if (parser.resolveOperand(operand, types[2 * index], result.operands))
      return failure();
  for (auto [index, operand] : llvm::enumerate(lses))
    if (parser.resolveOperand(operand, types[2 * index + 1], result.operands))
      return failure();
  if (parser.resolveOperands(outs, outTypes, outsLoc, result.operands))
    return failure();
  result.getOrAddProperties<MergeOp::Properties>().operandSegmentSizes = {
      static_cast<int32_t>(partials.size()), static_cast<int32_t>(lses.size()),
      static_cast<int32_t>(outs.size())};
  return success();
}

void MergeOp::print(OpAsmPrinter &p) {
  p << ' ';
  llvm::interleaveComma(llvm::zip(getPartials(), getLses()), p, [&](auto pair) {
    p << '(' << std::get<0>(pair) << ", " << std::get<1>(pair) << ')';
  });
  printOperands(p, "outs", getOuts());
  p.printOptionalAttrDict((*this)->getAttrs(),
                          {getOperandSegmentSizesAttrName()});
  p << " : ";
  llvm::interleaveComma(llvm::zip(getPartials(), getLses()), p, [&](auto pair) {
    p << std::get<0>(pair).getType() << ", " << std::get<1>(pair).getType();
  });
  printResultTypes(p, *this);
}
