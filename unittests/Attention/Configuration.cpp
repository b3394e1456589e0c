//===- Configuration.cpp - random attentions, and their names -------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Configuration.h"
#include "RegionWriter.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace farun::test {

const std::array<Configuration::Row, Configuration::NumQuestions>
    Configuration::kQuestions = {{
#define FA_TEST_QUESTION(NAME, MOST) {#NAME, MOST},
        FA_TEST_QUESTIONS(FA_TEST_QUESTION)
#undef FA_TEST_QUESTION
    }};

Configuration::Configuration(uint64_t seed) : seed(seed) {
  RandomSource random(seed, /*stream=*/96);
  for (Question question : {Type, Target, State, Batch, Group, KVHeads})
    choices[question] = random.integer(kQuestions[question].most);
  // Others are answered by more than the plainest in one of `rarity` draws.
  auto maybe = [&](Question question, int64_t rarity) {
    int64_t most = kQuestions[question].most;
    choices[question] =
        random.integer(rarity - 1) ? 0 : 1 + random.integer(most - 1);
  };
  for (Question question :
       {Scale, Causal, StaticBatch, StaticHeads, StaticKVHeads, StaticQueries,
        StaticKeys, Roles, Blocks, Query})
    maybe(question, 3);
  for (Question question :
       {OutType, Softcap, Score, Alibi, Bias, Window, Mask, Visible, Segments,
        QLengths, KVLengths, Sink, Dropout, EmptyRow, NoLSE, Layout, Strides,
        Exact, Polynomial})
    maybe(question, 4);
  maybe(Chunk, 5);
  // Large kernels take long to compile.
  maybe(Tiles, 2);
  maybe(Picked, 16);
  for (Question question : {HeadDim, ValueDim}) {
    bool isLarge = random.integer(3) == 0, isLargest = random.integer(39) == 0;
    choices[question] = isLargest ? 7 + random.integer(1)
                        : isLarge ? 4 + random.integer(2)
                                  : random.integer(3);
  }
  // A fault in what blocks are seen needs several of them, or less than one.
  choices[Queries] = random.integer(std::array{70, 200}[random.integer(1)]);
  choices[Keys] =
      random.integer(std::array{20, 90, 250, 250}[random.integer(3)]);
  maybe(Shared, 8);
}

/// 17:Keys=30,Causal=1
std::optional<Configuration> Configuration::read(const std::string &text) {
  const char *at = text.data(), *end = at + text.size();
  auto number = [&](auto &value) {
    auto [stop, problem] = std::from_chars(at, end, value);
    at = stop;
    return problem == std::errc();
  };
  uint64_t seed = 0;
  if (!number(seed))
    return std::nullopt;
  Configuration result(seed);
  if (at == end)
    return result;
  result.choices = {};
  for (char separator = ':'; at != end; separator = ',') {
    const char *equals = std::find(at, end, '=');
    if (*at != separator || equals == end)
      return at + 1 == end && *at == ':' ? std::optional(result) : std::nullopt;
    std::string_view name(at + 1, equals);
    auto row =
        std::find_if(kQuestions.begin(), kQuestions.end(),
                     [&](const Row &known) { return known.name == name; });
    at = equals + 1;
    int64_t choice = 0;
    if (row == kQuestions.end() || !number(choice) || choice < 0 ||
        choice > row->most)
      return std::nullopt;
    result.choices[size_t(row - kQuestions.begin())] = choice;
  }
  return result;
}

std::string Configuration::name() const {
  std::string text = std::to_string(seed);
  char separator = ':';
  for (size_t question = 0; question < NumQuestions; ++question)
    if (choices[question]) {
      text += separator + std::string(kQuestions[question].name) + "=" +
              std::to_string(choices[question]);
      separator = ',';
    }
  return separator == ':' ? text + ":" : text;
}

//===----------------------------------------------------------------------===//
// What the choices mean
//===----------------------------------------------------------------------===//

static constexpr std::array kTypes = {"f16", "bf16", "f32"};

/// Whether the kernel has producers beside warpgroups of consumers.
bool Configuration::hasRoles() const {
  return (*this)[Target] && isHalf() && (*this)[Roles] != 3;
}

/// In the exact mode a type whose nearest number is far coarser than f32.
std::string Configuration::outType() const {
  const Configuration &c = *this;
  size_t type = size_t(c[Type] + c[OutType]) % kTypes.size();
  return kTypes[c[Exact] && type == 2 ? 1 : type];
}

/// In the exact mode of powers of two ln 2, or -ln 2, in that of equal weights
/// 0.
std::string Configuration::scale() const {
  const Configuration &c = *this;
  if (c[Scale] == 4)
    return "";
  if (c[Exact])
    return c[Exact] == 2
               ? "scale(0.0) "
               : std::string(c[Scale] % 2 ? "scale(-" : "scale(") + kLn2 + ") ";
  return std::array{"", "scale(0.25) ",   "scale(-0.5) ",   "scale(0.0) ",
                    "", "scale(1.0e38) ", "scale(-1.0e38) "}[size_t(c[Scale])];
}

std::string Configuration::schedule() const {
  const Configuration &c = *this;
  constexpr std::array<std::array<const char *, 4>, 2> tiles = {
      {{"tile_q=16,tile_kv=16,warps=1", "tile_q=32,tile_kv=16,warps=2,stages=3",
        "tile_q=64,tile_kv=32,warps=2", "tile_q=64,tile_kv=64,warps=4"},
       {"tile_q=64,tile_kv=16", "tile_q=64,tile_kv=32,stages=3",
        "tile_q=128,tile_kv=32", "tile_q=64,tile_kv=64"}}};
  // Larger ones do not fit.
  int64_t most = isHalf() ? 3 : 2;
  if (isWide())
    most = isHalf() || !c[Target] ? 1 : 0;
  // One warp alone does not copy rows of 256 numbers of f32.
  int64_t least = isWide() && !isHalf() && !c[Target] ? 1 : 0;
  int64_t tile = std::max(std::min(c[Tiles], most), least);
  // That of two warpgroups, and of 32 rows a warp.
  bool isTall = tile == 2;
  std::string text;
  auto add = [&](bool isUsed, const std::string &key) {
    if (isUsed)
      text += (text.empty() ? "" : ",") + key;
  };
  add(!c[Picked], tiles[size_t(c[Target])][size_t(tile)]);
  add(c[State], "state=shared");
  add(c[Query] && isHalf() && !hasRoles() && !isTall && !c[Picked],
      "query=registers");
  add(c[Roles] == 1 && hasRoles() && isTall && !c[State] && !c[Picked],
      "pingpong=true");
  add(c[Roles] == 2 && hasRoles(), "pingpong=false");
  add(c[Roles] == 3 && c[Target], "producers=0");
  add(c[Blocks] == 1 && hasRoles(), "persistent=true");
  add(c[Blocks] == 2 && hasRoles(), "cluster=2");
  // What is near 1 in it is not exactly 1.
  add(c[Polynomial] && isHalf() && !c[Exact],
      "polynomial=" + std::to_string(c[Polynomial]));
  return text;
}

Form Configuration::form() const {
  const Configuration &c = *this;
  const char *masks[] = {"", "?x?x?x?", "?x1", "1x?x1x?"};
  Form form;
  form.type = kTypes[size_t(c[Type])];
  form.outType = outType() == form.type ? "" : outType();
  form.headDim =
      std::array{16, 24, 40, 72, 64, 96, 128, 192, 256}[size_t(c[HeadDim])];
  form.valueDim =
      std::array{16, 8, 33, 80, 64, 100, 128, 192, 256}[size_t(c[ValueDim])];
  form.tensors = 3 - int(shared());
  if (shared())
    form.valueDim = form.headDim;
  form.clauses = scale();
  form.hasScaleOperand = c[Scale] == 4;
  const char *causal[] = {"", "#fa.causal<top_left>",
                          "#fa.causal<bottom_right>",
                          "#fa.causal<bottom_right, prefix = 11>"};
  const char *windows[] = {"", "#fa.window<top_left, left = 20, right = 3>",
                           "#fa.window<bottom_right, left = 33, right = -1>",
                           "#fa.window<top_left, left = 0, right = 40>"};
  const char *chunks[] = {"", "#fa.chunk<top_left, size = 16>",
                          "#fa.chunk<bottom_right, size = 21>"};
  std::string list;
  for (const char *mask :
       {causal[c[Causal]], windows[c[Window]], chunks[c[Chunk]]})
    if (*mask)
      list += (list.empty() ? "" : ", ") + std::string(mask);
  if (!list.empty())
    form.clauses += "masks [" + list + "]";
  if (c[Softcap] && !c[Exact])
    form.clauses += c[Softcap] == 1 ? " softcap(1.5)" : " softcap(100.0)";
  if (c[Score])
    form.clauses +=
        c[Exact] ? RegionWriter(seed).steps() : RegionWriter(seed).score();
  if (c[Visible])
    form.clauses += c[Visible] == 1 ? RegionWriter(seed + 1).visible()
                                    : RegionWriter(seed + 1).sinksAndWindow();
  form.bias = masks[c[Bias]];
  form.biasType = c[Exact] ? "f32" : kTypes[size_t(c[Type] + c[Bias]) % 3];
  form.mask = masks[c[Mask]];
  form.hasAlibi = c[Alibi] && !c[Exact];
  form.hasSink = c[Sink];
  form.hasSegments = c[Segments];
  form.hasQLengths = c[QLengths];
  form.hasKVLengths = c[KVLengths];
  if (c[Dropout])
    form.dropout = std::array{0.5, 0.25, 0.9}[size_t(c[Dropout] - 1)];
  const char *rows[] = {"", "empty_row = \"nan\"", "empty_row = \"uniform\""};
  form.attributes = rows[c[EmptyRow]];
  form.hasLSE = !c[NoLSE];
  form.isBSHD = c[Layout];
  form.schedule = schedule();
  Extent5 known = extents();
  auto fix = [&](Question question, int64_t &extent, int64_t number) {
    if (c[question])
      extent = number;
  };
  fix(StaticBatch, form.extents.B, known.B);
  fix(StaticHeads, form.extents.Hq, known.Hq);
  fix(StaticKVHeads, form.extents.Hkv, known.Hkv);
  fix(StaticQueries, form.extents.Sq, known.Sq);
  fix(StaticKeys, form.extents.Sk, known.Sk);
  return form;
}

/// Wide heads have few of them, and short sequences.
Extent5 Configuration::extents() const {
  const Configuration &c = *this;
  int64_t kvHeads = isWide() ? 1 : 1 + c[KVHeads];
  int64_t longest = isWide() ? 40 : 250;
  int64_t queries = std::min(1 + c[Queries], longest);
  if (shared() == 2)
    return {1 + c[Batch], kvHeads, kvHeads, queries, queries};
  return {1 + c[Batch], kvHeads * (1 + c[Group]), kvHeads, queries,
          std::min(c[Keys], longest)};
}

const char *Configuration::target() const {
  return std::array{"sm_80", "sm_90a"}[size_t((*this)[Target])];
}

//===----------------------------------------------------------------------===//
// Again
//===----------------------------------------------------------------------===//

static constexpr const char *kVariable = "FA_TEST_CONFIGURATION";

std::string Configuration::toolLine(const std::string &tool) const {
  if ((*this)[Exact] || (*this)[Strides])
    return "";
  Form form = this->form();
  std::string text = form.text();
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string line = tool + " <(echo '" + text + "') --target=" + target();
  if (!form.schedule.empty())
    line += " --schedule=" + form.schedule;
  Extent5 extent = extents();
  for (auto [name, number] : {std::pair("B", extent.B),
                              {"Hq", extent.Hq},
                              {"Hkv", extent.Hkv},
                              {"Sq", extent.Sq},
                              {"Sk", extent.Sk}})
    line += std::string(" --dim=") + name + "=" + std::to_string(number);
  if ((*this)[Blocks] == 1 && hasRoles())
    line += " --multiprocessors=2";
  return line + " --device=emulator --seed=" + std::to_string(seed);
}

std::string Configuration::str() const {
  return form().text() + target() + " " + extents().str() + " schedule " +
         form().schedule + "\n" + kVariable + "=" + name() +
         " FAAttentionRegionTests --gtest_filter=Configurations.AreRight/0\n" +
         toolLine("fa-run");
}

std::vector<Configuration> configurationsToRun(uint64_t first, int count) {
  std::vector<Configuration> list;
  if (const char *text = std::getenv(kVariable)) {
    if (std::optional<Configuration> asked = Configuration::read(text))
      list.push_back(*asked);
    else
      ADD_FAILURE() << kVariable << "=" << text << " is no configuration";
    return list;
  }
  for (uint64_t seed = first; seed < first + uint64_t(count); ++seed)
    list.emplace_back(seed);
  return list;
}

void checkConfigurations(uint64_t first, int count) {
  for (const Configuration &drawn : configurationsToRun(first, count)) {
    std::string problem = drawn.problem();
    if (problem.empty())
      continue;
    Configuration smallest = drawn.shrink();
    ADD_FAILURE() << drawn.name() << ": " << problem << "\n"
                  << drawn.str() << "\nsmallest: " << smallest.problem() << "\n"
                  << smallest.str();
    return;
  }
}

} // namespace farun::test
