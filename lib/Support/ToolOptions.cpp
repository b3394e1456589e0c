//===- ToolOptions.cpp - what the tools' command lines share --------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/ToolOptions.h"

#include "fa/Support/Expected.h"

#include <CLI/CLI.hpp>

#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iostream>

namespace farun {

/// "error: ...; --help lists the options" and a newline.
static std::string describe(std::string words) {
  // The name FILE stays as the help writes it.
  if (words.size() > 1 && std::islower(static_cast<unsigned char>(words[1])))
    words[0] = char(std::tolower(static_cast<unsigned char>(words[0])));
  return "error: " + words + "; --help lists the options\n";
}

std::string checkWholeNumber(const std::string &text) {
  uint64_t value = 0;
  const char *last = text.data() + text.size();
  auto [end, problem] = std::from_chars(text.data(), last, value);
  if (problem == std::errc() && end == last)
    return "";
  return "'" + text + "' is no whole number from 0 to 2^64 - 1";
}

void addDeviceOptions(CLI::App &app, DeviceOptions &options) {
  for (const DeviceOption &row : deviceOptionTable())
    std::visit(
        [&](auto member) {
          CLI::Option *option =
              app.add_option(row.name, options.*member, row.help);
          using Value = std::decay_t<decltype(options.*member)>;
          if constexpr (!std::is_same_v<Value, std::string>)
            option->check(checkWholeNumber);
        },
        row.value);
}

/// What is wrong with word `n` by itself; empty when nothing is. CLI11 would
/// take the word behind "--output=" for its value, and an empty word for none.
static std::string checkWord(const CLI::App &app, int n, char **argv) {
  std::string word = argv[n];
  if (word.empty())
    return n > 1 ? "an empty word is behind '" + std::string(argv[n - 1]) + "'"
                 : "an empty word is given";
  size_t at = word.find('=');
  if (word[0] != '-' || at != word.size() - 1)
    return "";
  const CLI::Option *option = app.get_option_no_throw(word.substr(0, at));
  if (!option)
    return "";
  return option->get_items_expected_max() == 0
             ? word.substr(0, at) + " takes no value"
             : word + " needs a value";
}

std::optional<int> parseCommandLine(CLI::App &app, int argc, char **argv,
                                    AloneValues alone) {
  for (const DeviceOption &row : deviceOptionTable())
    if (row.alone && app.get_option_no_throw(row.name))
      alone.push_back({row.name, row.alone});
  for (int n = 1; n < argc && std::string(argv[n]) != "--"; ++n)
    if (std::string wrong = checkWord(app, n, argv); !wrong.empty()) {
      std::cerr << describe(wrong);
      return int(ErrorCode::Input);
    }
  // CLI11 takes the words last first.
  std::vector<std::string> words;
  for (int n = argc; n-- > 1;) {
    std::string word = argv[n];
    // CLI11 would take the '=' of "-o=x" for a letter of the value.
    if (word.size() > 3 && word[0] == '-' && word[1] != '-' && word[2] == '=')
      word.erase(2, 1);
    for (const auto &[option, value] : alone)
      if (word == option) {
        word += "=" + value;
        break;
      }
    words.push_back(word);
  }
  if (argc > 0)
    app.name(std::filesystem::path(argv[0]).filename().string());
  app.set_version_flag("--version", app.get_name() + " " FA_VERSION);
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    return describe(error.what());
  });
  try {
    app.parse(words);
  } catch (const CLI::ParseError &error) {
    // Help is an answer; anything else is a wrong command line.
    return app.exit(error) == 0 ? 0 : int(ErrorCode::Input);
  }
  return std::nullopt;
}

int finishOutput(int code) {
  std::cout.flush();
  bool isWhole = std::fflush(stdout) == 0 && !std::ferror(stdout);
  if (isWhole && std::cout)
    return code;
  std::cerr << "error: standard output cannot be written\n";
  return code ? code : int(ErrorCode::Input);
}

} // namespace farun
