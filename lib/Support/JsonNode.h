//===- JsonNode.h - a place in a JSON document ------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a document that nobody vouches for. Each place knows its path
// ("entries[0].launches[1].grid"), which every message carries. The first
// failure is kept in a slot that all places share, and makes every later read
// return a default, so that readers need no branches.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_SUPPORT_JSONNODE_H
#define FA_LIB_SUPPORT_JSONNODE_H

#include "ManifestNames.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <optional>

namespace farun {

class JsonNode {
public:
  // ordered_json, as the manifest's writer uses it.
  using Json = nlohmann::ordered_json;

  JsonNode(const Json *json, std::string path,
           std::optional<std::string> &failure)
      : json(json), where(std::move(path)), failure(failure) {}

  const std::string &path() const { return where; }
  bool isNull() const { return json && json->is_null(); }
  bool isString() const { return json && json->is_string(); }
  bool isInteger() const { return json && json->is_number_integer(); }
  /// There, and not null.
  bool has(const char *key) const;
  /// There, be it null.
  bool contains(const char *key) const;

  /// The member of that name, which must be there.
  JsonNode operator[](const char *key) const;
  /// Fails on a key that is none of these: it could change the meaning.
  void expectKeys(std::initializer_list<const char *> keys) const;
  std::vector<JsonNode> elements() const;

  std::string string() const;
  /// A string that is not empty.
  std::string word() const;
  double number() const;
  bool flag() const;
  int64_t integer(int64_t least, int64_t most) const;
  /// An index below `limit`, which counts `what`.
  int index(size_t limit, const char *what) const;
  std::string choice(std::initializer_list<const char *> accepted) const;
  template <typename E, size_t N> E choice(const Named<E> (&table)[N]) const {
    std::string text = string(), accepted;
    for (const Named<E> &entry : table) {
      if (entry.name == text)
        return entry.value;
      accepted += (accepted.empty() ? "" : ", ") + std::string(entry.name);
    }
    fail("is '" + text + "'; accepted are " + accepted);
    return table[0].value;
  }

  /// Keeps "'path' what" unless something failed before.
  void fail(const std::string &what) const;
  bool failed() const { return bool(failure); }

private:
  /// What stands here, in few words.
  std::string found() const;
  void failType(const char *accepted) const;

  const Json *json;
  std::string where;
  std::optional<std::string> &failure;
};

} // namespace farun

#endif // FA_LIB_SUPPORT_JSONNODE_H
