//===- Text.h - words of a user in a message --------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file from elsewhere may hold a word of any length and any bytes. What a
// message repeats of it goes through here.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_TEXT_H
#define FA_SUPPORT_TEXT_H

#include <string>
#include <string_view>

namespace farun {

/// At most `most` bytes, the last three "..." where some are left out; what a
/// terminal would obey is '?'.
inline std::string shorten(std::string_view text, size_t most = 64) {
  bool isLong = text.size() > most;
  size_t end = isLong ? most - 3 : text.size();
  // Not within a letter of UTF-8.
  while (isLong && end > 0 && (static_cast<unsigned char>(text[end]) >> 6) == 2)
    --end;
  std::string result(text.substr(0, end));
  for (char &c : result)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  return isLong ? result + "..." : result;
}

/// The same between quotes.
inline std::string quote(std::string_view text) {
  return "'" + shorten(text) + "'";
}

} // namespace farun

#endif // FA_SUPPORT_TEXT_H
