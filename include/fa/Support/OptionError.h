//===- OptionError.h - what a wrong command line is told --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The option parser's words in the form of all other errors. Every tool sets
// it as its CLI::App's failure message; this header knows nothing of CLI11.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_OPTIONERROR_H
#define FA_SUPPORT_OPTIONERROR_H

#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>

namespace farun {

/// "error: ...; --help lists the options" and a newline.
inline std::string describeOptionError(std::string words) {
  // The name FILE stays as the help writes it.
  if (words.size() > 1 && std::islower(static_cast<unsigned char>(words[1])))
    words[0] = char(std::tolower(static_cast<unsigned char>(words[0])));
  return "error: " + words + "; --help lists the options\n";
}

/// What is wrong with `text` as a whole number, nothing when it is one. The
/// option parser itself takes -1 for 2^64 - 1, and so it does what is too
/// large.
inline std::string checkWholeNumber(const std::string &text) {
  uint64_t value = 0;
  const char *last = text.data() + text.size();
  auto [end, problem] = std::from_chars(text.data(), last, value);
  if (problem == std::errc() && end == last)
    return "";
  return "'" + text + "' is no whole number from 0 to 2^64 - 1";
}

} // namespace farun

#endif // FA_SUPPORT_OPTIONERROR_H
