//===- JsonNode.cpp - a place in a JSON document --------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "JsonNode.h"

#include "fa/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farun {

bool JsonNode::has(const char *key) const {
  return contains(key) && !(*json)[key].is_null();
}

bool JsonNode::contains(const char *key) const {
  return json && json->is_object() && json->contains(key);
}

JsonNode JsonNode::operator[](const char *key) const {
  std::string inner = where.empty() ? key : where + "." + key;
  if (contains(key))
    return JsonNode(&(*json)[key], inner, failure);
  JsonNode missing(nullptr, inner, failure);
  missing.fail("is missing");
  return missing;
}

void JsonNode::expectKeys(std::initializer_list<const char *> keys) const {
  if (!json || !json->is_object()) {
    failType("an object");
    return;
  }
  for (const auto &[key, value] : json->items()) {
    bool isKnown = std::any_of(
        keys.begin(), keys.end(),
        [&, key = &key](const char *known) { return *key == known; });
    if (isKnown)
      continue;
    std::string accepted;
    for (const char *known : keys)
      accepted += (accepted.empty() ? "" : ", ") + std::string(known);
    fail("has the key " + quote(key) + "; accepted are " + accepted);
  }
}

std::vector<JsonNode> JsonNode::elements() const {
  std::vector<JsonNode> result;
  if (!json || !json->is_array()) {
    failType("a list");
    return result;
  }
  for (size_t n = 0; n < json->size(); ++n)
    result.push_back(
        JsonNode(&(*json)[n], where + "[" + std::to_string(n) + "]", failure));
  return result;
}

std::string JsonNode::string() const {
  if (isString())
    return json->get<std::string>();
  failType("a string");
  return "";
}

std::string JsonNode::word() const {
  std::string text = string();
  if (text.empty())
    fail("must not be empty");
  return text;
}

double JsonNode::number() const {
  if (json && json->is_number())
    return json->get<double>();
  failType("a number");
  return 0.0;
}

bool JsonNode::flag() const {
  if (json && json->is_boolean())
    return json->get<bool>();
  failType("true or false");
  return false;
}

int64_t JsonNode::integer(int64_t least, int64_t most) const {
  bool fits =
      isInteger() &&
      (!json->is_number_unsigned() ||
       json->get<uint64_t>() <= uint64_t(std::numeric_limits<int64_t>::max()));
  int64_t value = fits ? json->get<int64_t>() : 0;
  // A whole number of more than 64 bits is kept as a float.
  bool isHuge = json && json->is_number_float() &&
                std::abs(json->get<double>()) >= 0x1p63;
  if (!isInteger() && !isHuge) {
    failType("a whole number");
  } else if (!fits || value < least || value > most) {
    fail("is " + found() + "; accepted are " + std::to_string(least) + " to " +
         std::to_string(most));
    return least;
  }
  return value;
}

int JsonNode::index(size_t limit, const char *what) const {
  if (isInteger() && limit == 0)
    fail("is " + found() + "; there are no " + what);
  return int(integer(0, int64_t(limit) - 1));
}

std::string
JsonNode::choice(std::initializer_list<const char *> accepted) const {
  std::string text = string(), all;
  for (const char *word : accepted) {
    if (text == word)
      return text;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  fail("is " + quote(text) + "; accepted are " + all);
  return *accepted.begin();
}

void JsonNode::fail(const std::string &what) const {
  if (!failure)
    failure =
        where.empty() ? "the document " + what : "'" + where + "' " + what;
}

std::string JsonNode::found() const {
  if (!json)
    return "nothing";
  if (json->is_array())
    return "a list";
  if (json->is_object())
    return "an object";
  return shorten(json->dump(-1, ' ', true, Json::error_handler_t::replace), 40);
}

void JsonNode::failType(const char *accepted) const {
  fail(std::string("must be ") + accepted + ", found " + found());
}

} // namespace farun
