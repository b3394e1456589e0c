//===- Attention.cpp - fa_attention as text and as an entry ---------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Attention.h"

#include "Arrays.h"

#include "fa/Support/Limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace facapi {

using farun::ElementType;
using farun::OperandKind;

namespace {

/// A float as MLIR reads it, every bit of it.
std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17e", value);
  return text;
}

/// The same for a reader.
std::string shortest(double value) {
  char text[40];
  return std::string(text, std::to_chars(text, std::end(text), value).ptr);
}

/// One of some words; null is the first.
Outcome readWord(const char *given, const char *name,
                 std::initializer_list<const char *> accepted,
                 std::string &word) {
  word = given ? given : *accepted.begin();
  std::string all;
  for (const char *one : accepted) {
    if (word == one)
      return std::nullopt;
    all += (all.empty() ? "" : ", ") + std::string(one);
  }
  return inputFailure("the " + std::string(name) + " '" + word +
                          "' is unknown; accepted are " + all,
                      name);
}

Outcome readType(fa_dtype dtype, const char *name, ElementType &type) {
  std::optional<ElementType> found = toElementType(dtype);
  if (!found || !farun::isFloat(*found) || *found == ElementType::F64)
    return inputFailure("the " + std::string(name) + " " +
                            (found ? std::string(farun::name(*found))
                                   : std::to_string(int(dtype))) +
                            " is none of f32, f16, bf16, f8E4M3FN and f8E5M2",
                        name);
  type = *found;
  return std::nullopt;
}

std::string typeText(const farun::Operand &operand) {
  std::string element(farun::name(operand.type));
  if (operand.kind == OperandKind::Scalar)
    return element;
  std::string text = "tensor<";
  for (int64_t extent : operand.shape)
    text += (extent == farun::kDynamic ? "?" : std::to_string(extent)) + "x";
  return text + element + ">";
}

} // namespace

Outcome AttentionOp::readWords() {
  if (Outcome failure = readType(op.dtype, "dtype", type))
    return failure;
  if (Outcome failure = readType(op.out_dtype ? op.out_dtype : op.dtype,
                                 "out_dtype", outType))
    return failure;
  if (Outcome failure = readWord(op.layout, "layout", {"bhsd", "bshd"}, layout))
    return failure;
  if (Outcome failure = readWord(op.precision, "precision",
                                 {"ieee", "tf32x3", "tf32"}, precision))
    return failure;
  if (precision != "ieee" && type != ElementType::F32)
    return inputFailure("the precision " + precision +
                            " is of products of f32, and the dtype is " +
                            std::string(farun::name(type)) +
                            "; accepted is ieee",
                        "precision");
  score = op.score ? op.score : "";
  visible = op.visible ? op.visible : "";
  return readWord(op.empty_row, "empty_row", {"zero", "nan", "uniform"},
                  emptyRow);
}

Outcome AttentionOp::readNumbers() {
  const std::pair<const char *, int64_t> extents[] = {
      {"batch", op.batch},
      {"q_heads", op.q_heads},
      {"kv_heads", op.kv_heads},
      {"q_length", op.q_length},
      {"kv_length", op.kv_length}};
  for (auto [name, value] : extents)
    if (value < FA_DYNAMIC)
      return inputFailure("the extent " + std::string(name) + " is " +
                              std::to_string(value) +
                              "; accepted are -1 (known at the launch) and "
                              "what is not negative",
                          name);
  if (op.head_dim < 1)
    return inputFailure("head_dim is " + std::to_string(op.head_dim) +
                            "; it must be at least 1",
                        "head_dim");
  if (op.value_dim == 0)
    op.value_dim = op.head_dim;
  if (op.value_dim < 1)
    return inputFailure("value_dim is " + std::to_string(op.value_dim) +
                            "; accepted are 0 (head_dim) and more",
                        "value_dim");
  if (op.scale_kind < FA_SCALE_DEFAULT || op.scale_kind > FA_SCALE_OPERAND)
    return inputFailure("scale_kind is " + std::to_string(int(op.scale_kind)) +
                            "; accepted are 0 to 2",
                        "scale_kind");
  if (op.scale_kind == FA_SCALE_NUMBER && !farun::isScaleInRange(op.scale))
    return inputFailure("the scale is " + shortest(op.scale) +
                            "; accepted is what |scale| log2 e keeps finite in "
                            "f32",
                        "scale");
  if (op.has_softcap && !farun::isSoftcapInRange(op.softcap))
    return inputFailure("the softcap is " + shortest(op.softcap) +
                            "; accepted is what is above 0 and, like its "
                            "reciprocal, finite in f32",
                        "softcap");
  if (op.has_dropout && !(op.dropout >= 0 && op.dropout <= 1))
    return inputFailure("the dropout is " + shortest(op.dropout) +
                            "; accepted are 0 to 1",
                        "dropout");
  if (op.page_size < 0)
    return inputFailure("page_size is " + std::to_string(op.page_size) +
                            "; accepted are 0 (no pages) and more",
                        "page_size");
  return std::nullopt;
}

/// A number of keys in a structural mask.
static Outcome readKeys(int64_t keys, const char *name, const char *argument,
                        int64_t least, int64_t most) {
  if (keys >= least && keys <= most)
    return std::nullopt;
  std::string accepted =
      least < 0 ? "-1 (unbounded), 0" : std::to_string(least);
  return inputFailure("the " + std::string(name) + " is " +
                          std::to_string(keys) + "; accepted are " + accepted +
                          " to " + std::to_string(most),
                      argument);
}

Outcome AttentionOp::readMasks() {
  if (op.mask_count && !op.masks)
    return inputFailure("the masks are null", "masks");
  for (size_t n = 0; n < op.mask_count; ++n) {
    const fa_mask &given = op.masks[n];
    farun::StructuralMask mask;
    if (given.kind < FA_MASK_CAUSAL || given.kind > FA_MASK_CHUNK)
      return inputFailure("mask " + std::to_string(n) + " has kind " +
                              std::to_string(int(given.kind)) +
                              "; accepted are 0 to 2",
                          "masks");
    mask.kind = farun::StructuralMask::Kind(int(given.kind));
    mask.isBottomRight = given.bottom_right;
    Outcome failure;
    switch (mask.kind) {
    case farun::StructuralMask::Kind::Causal:
      mask.prefix = given.prefix;
      failure =
          readKeys(mask.prefix, "prefix", "prefix", 0, farun::kMaxMaskKeys);
      break;
    case farun::StructuralMask::Kind::Window:
      mask.left = given.left;
      mask.right = given.right;
      failure = readKeys(mask.left, "left side of the window", "window", -1,
                         farun::kMaxMaskKeys);
      if (!failure)
        failure = readKeys(mask.right, "right side of the window", "window", -1,
                           farun::kMaxMaskKeys);
      break;
    case farun::StructuralMask::Kind::Chunk:
      mask.size = given.size;
      failure = readKeys(mask.size, "size of the chunk", "chunk", 1,
                         farun::kMaxChunkKeys);
      break;
    }
    if (failure)
      return failure;
    masks.push_back(mask);
  }
  op.masks = nullptr; // the caller's
  return std::nullopt;
}

Outcome AttentionOp::readBroadcast(const fa_broadcast &operand,
                                   const char *role) {
  if (operand.dtype == FA_NONE)
    return std::nullopt;
  bool isMask = role == std::string("mask");
  std::optional<ElementType> found = toElementType(operand.dtype);
  if (!found || (isMask ? *found != ElementType::I1 : !farun::isFloat(*found)))
    return inputFailure("the dtype of " + std::string(role) + " is " +
                            (found ? std::string(farun::name(*found))
                                   : std::to_string(int(operand.dtype))) +
                            "; accepted is " + (isMask ? "i1" : "a float type"),
                        role);
  if (operand.rank < 1 || operand.rank > 4)
    return inputFailure("the rank of " + std::string(role) + " is " +
                            std::to_string(operand.rank) +
                            "; accepted are 1 to 4",
                        role);
  for (int d = 0; d < operand.rank; ++d)
    if (operand.shape[d] < FA_DYNAMIC)
      return inputFailure("dimension " + std::to_string(d) + " of " +
                              std::string(role) + " is " +
                              std::to_string(operand.shape[d]) +
                              "; accepted are -1, 1 and the full extent",
                          role);
  return std::nullopt;
}

Outcome AttentionOp::read(const fa_attention *given) {
  if (Outcome failure = checkPlace(given, "attention"))
    return failure;
  if (Outcome failure =
          readStruct(given, "fa_attention", sizeof(fa_attention), op))
    return failure;
  for (Outcome (AttentionOp::*step)() :
       {&AttentionOp::readWords, &AttentionOp::readNumbers,
        &AttentionOp::readMasks})
    if (Outcome failure = (this->*step)())
      return failure;
  if (Outcome failure = readBroadcast(op.bias, "bias"))
    return failure;
  if (Outcome failure = readBroadcast(op.mask, "mask"))
    return failure;
  addOperands();
  return std::nullopt;
}

int64_t AttentionOp::extent(const std::string &dim) const {
  const std::pair<const char *, int64_t> extents[] = {
      {"B", op.batch},
      {"Hq", op.q_heads},
      {"Hkv", op.kv_heads},
      {"Sq", op.q_length},
      {"Tq", op.q_length},
      {"Sk", op.kv_length},
      {"Tk", op.kv_length},
      {"D", op.head_dim},
      {"Dv", op.value_dim},
      {"page_size", op.page_size},
      {"B+1", op.batch < 0 ? op.batch : op.batch + 1}};
  for (auto [name, value] : extents)
    if (dim == name)
      return value;
  return farun::kDynamic; // pages, table
}

void AttentionOp::addRow(const char *role, ElementType type,
                         std::vector<std::string> dims) {
  farun::Operand operand;
  operand.role = role;
  operand.type = type;
  for (const std::string &dim : dims)
    operand.shape.push_back(extent(dim));
  operand.dims = std::move(dims);
  operands.push_back(std::move(operand));
}

void AttentionOp::addBroadcast(const fa_broadcast &given, const char *role) {
  if (given.dtype == FA_NONE)
    return;
  static constexpr const char *kDims[] = {"B", "Hq", "Sq", "Sk"};
  farun::Operand operand;
  operand.role = role;
  operand.type = *toElementType(given.dtype);
  for (int d = 0; d < given.rank; ++d) {
    operand.shape.push_back(given.shape[d]);
    operand.dims.push_back(given.shape[d] == 1 ? "1"
                                               : kDims[4 - given.rank + d]);
  }
  operands.push_back(std::move(operand));
}

/// [B, H, S, D] in the order of the layout.
static std::vector<std::string> inLayout(const std::string &layout,
                                         const char *heads, const char *seq,
                                         const char *feature) {
  if (layout == "bshd")
    return {"B", seq, heads, feature};
  return {"B", heads, seq, feature};
}

void AttentionOp::addOperands() {
  if (op.is_packed)
    addRow("query", type, {"Tq", "Hq", "D"});
  else
    addRow("query", type, inLayout(layout, "Hq", "Sq", "D"));
  const std::pair<const char *, const char *> keyValue[] = {{"key", "D"},
                                                            {"value", "Dv"}};
  for (auto [role, feature] : keyValue) {
    if (op.page_size)
      addRow(role, type, {"pages", "Hkv", "page_size", feature});
    else if (op.is_packed)
      addRow(role, type, {"Tk", "Hkv", feature});
    else
      addRow(role, type, inLayout(layout, "Hkv", "Sk", feature));
  }
  auto addScalar = [&](const char *role, ElementType type) {
    addRow(role, type, {});
    operands.back().kind = OperandKind::Scalar;
  };
  if (op.scale_kind == FA_SCALE_OPERAND)
    addScalar("scale", ElementType::F32);
  addBroadcast(op.bias, "bias");
  addBroadcast(op.mask, "mask");
  if (op.has_alibi)
    addRow("alibi", ElementType::F32, {"Hq"});
  if (op.has_sink)
    addRow("sink", ElementType::F32, {"Hq"});
  if (op.has_q_lengths)
    addRow("q_lengths", ElementType::I32, {"B"});
  if (op.has_kv_lengths)
    addRow("kv_lengths", ElementType::I32, {"B"});
  if (op.has_segments) {
    addRow("q_segments", ElementType::I32, {"B", "Sq"});
    addRow("kv_segments", ElementType::I32, {"B", "Sk"});
  }
  if (op.has_scales)
    for (const char *role : {"q_scales", "k_scales", "v_scales"})
      addRow(role, ElementType::F32, {"B", "Hkv"});
  if (op.is_packed)
    addRow("q_offsets", ElementType::I32, {"B+1"});
  if (op.is_packed && !op.page_size)
    addRow("kv_offsets", ElementType::I32, {"B+1"});
  if (op.page_size)
    addRow("pages", ElementType::I32, {"B", "table"});
  if (op.has_dropout)
    addScalar("seed", ElementType::I64);
  addResults();
}

void AttentionOp::addResults() {
  std::vector<std::string> dims = operands[0].dims;
  dims.back() = "Dv";
  addRow("out", outType, dims);
  operands.back().kind = OperandKind::Output;
  if (!op.with_lse)
    return;
  addRow("lse", ElementType::F32,
         op.is_packed ? std::vector<std::string>{"Hq", "Tq"}
                      : std::vector<std::string>{"B", "Hq", "Sq"});
  operands.back().kind = OperandKind::Output;
}

std::string AttentionOp::maskText() const {
  std::string text;
  for (const farun::StructuralMask &mask : masks) {
    text += text.empty() ? " masks [" : ", ";
    std::string align = mask.isBottomRight ? "bottom_right" : "top_left";
    switch (mask.kind) {
    case farun::StructuralMask::Kind::Causal:
      text += "#fa.causal<" + align;
      if (mask.prefix)
        text += ", prefix = " + std::to_string(mask.prefix);
      break;
    case farun::StructuralMask::Kind::Window:
      text += "#fa.window<" + align + ", left = " + std::to_string(mask.left) +
              ", right = " + std::to_string(mask.right);
      break;
    case farun::StructuralMask::Kind::Chunk:
      text += "#fa.chunk<" + align + ", size = " + std::to_string(mask.size);
      break;
    }
    text += ">";
  }
  return text.empty() ? text : text + "]";
}

namespace {
/// A clause and the roles of its operands.
struct OperandClause {
  const char *name;
  std::vector<const char *> roles;
};
} // namespace

std::string AttentionOp::clauses() const {
  static const std::vector<OperandClause> kClauses = {
      {"scale", {"scale"}},
      {"bias", {"bias"}},
      {"mask", {"mask"}},
      {"alibi", {"alibi"}},
      {"sink", {"sink"}},
      {"q_lengths", {"q_lengths"}},
      {"kv_lengths", {"kv_lengths"}},
      {"segments", {"q_segments", "kv_segments"}},
      {"scales", {"q_scales", "k_scales", "v_scales"}},
      {"q_offsets", {"q_offsets"}},
      {"kv_offsets", {"kv_offsets"}},
      {"pages", {"pages"}}};
  std::string text;
  if (op.scale_kind == FA_SCALE_NUMBER)
    text += " scale(" + number(op.scale) + ")";
  text += maskText();
  if (op.has_softcap)
    text += " softcap(" + number(op.softcap) + ")";
  for (const OperandClause &clause : kClauses) {
    std::string names, types;
    for (const char *role : clause.roles)
      for (const farun::Operand &operand : operands)
        if (operand.role == role) {
          names += (names.empty() ? "%" : ", %") + operand.role;
          types += (types.empty() ? "" : ", ") + typeText(operand);
        }
    if (!names.empty())
      text +=
          " " + std::string(clause.name) + "(" + names + " : " + types + ")";
  }
  if (op.has_dropout)
    text += " dropout(" + number(op.dropout) + ", seed = %seed : i64)";
  if (!score.empty())
    text += " score " + score;
  if (!visible.empty())
    text += " visible " + visible;
  return text;
}

std::string AttentionOp::attributes() const {
  std::string text;
  auto add = [&](const char *name, const std::string &value,
                 const char *usual) {
    if (value != usual)
      text += (text.empty() ? " {" : ", ") + std::string(name) + " = \"" +
              value + "\"";
  };
  add("layout", layout, "bhsd");
  add("precision", precision, "ieee");
  add("empty_row", emptyRow, "zero");
  return text.empty() ? text : text + "}";
}

std::string AttentionOp::text() const {
  std::string arguments, results, names;
  for (const farun::Operand &operand : operands) {
    if (operand.kind == OperandKind::Output) {
      results += (results.empty() ? "" : ", ") + typeText(operand);
      names += (names.empty() ? "%" : ", %") + operand.role;
    } else {
      arguments += (arguments.empty() ? "%" : ", %") + operand.role + ": " +
                   typeText(operand);
    }
  }
  return "func.func @attention(" + arguments + ") -> (" + results + ") {\n  " +
         names + " = fa.attention %query, %key, %value" + clauses() +
         attributes() + "\n    : " + typeText(operands[0]) + ", " +
         typeText(operands[1]) + ", " + typeText(operands[2]) + " -> " +
         results + "\n  return " + names + " : " + results + "\n}\n";
}

farun::Entry AttentionOp::entry() const {
  farun::Entry entry;
  entry.name = "attention";
  entry.operands = operands;
  farun::Attention &attention = entry.attention;
  attention.scale = op.scale_kind == FA_SCALE_NUMBER
                        ? op.scale
                        : double(float(1.0 / std::sqrt(double(op.head_dim))));
  if (op.has_softcap)
    attention.softcap = op.softcap;
  if (op.has_dropout)
    attention.dropout = op.dropout;
  attention.masks = masks;
  attention.layout = layout;
  attention.emptyRow = emptyRow;
  return entry;
}

faref::Precision AttentionOp::precisionKind() const {
  return precision == "tf32"     ? faref::Precision::TF32
         : precision == "tf32x3" ? faref::Precision::TF32x3
                                 : faref::Precision::Ieee;
}

const char *AttentionOp::findRegion() const {
  return !score.empty() ? "score" : !visible.empty() ? "visible" : nullptr;
}

/// Where "file:line:column" lies in a text; npos for none.
static size_t findPlace(const std::string &text, const std::string &location) {
  size_t colon = location.rfind(':');
  size_t before = colon ? location.rfind(':', colon - 1) : std::string::npos;
  if (colon == std::string::npos || before == std::string::npos)
    return std::string::npos;
  size_t begin = 0;
  for (long line = std::atol(location.c_str() + before + 1); line > 1; --line)
    begin = text.find('\n', begin) + 1;
  return begin + size_t(std::atol(location.c_str() + colon + 1));
}

void AttentionOp::blameRegion(Failure &failure) const {
  if (!failure.argument.empty() || !findRegion())
    return;
  // All but the regions is ours, and right: what does not end well in one is
  // noticed behind it.
  std::string whole = text();
  size_t place = findPlace(whole, failure.location);
  if (place == std::string::npos)
    return;
  if (!score.empty() && place > whole.find(" score " + score))
    failure.argument = "score";
  if (!visible.empty() && place > whole.rfind(" visible " + visible))
    failure.argument = "visible";
}

} // namespace facapi
