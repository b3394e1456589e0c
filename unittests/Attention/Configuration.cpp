//===- Configuration.cpp - random attentions, and smaller ones ------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Configuration.h"

#include "fa/Compiler/Compiler.h"
#include "fa/Runner/InputGenerator.h"

namespace farun::test {

namespace {

/// Writes a region of integers: sums, quotients, comparisons, and, or.
class RegionWriter {
public:
  explicit RegionWriter(uint64_t seed) : random(seed, /*stream=*/97) {}

  std::string visible() {
    std::string result = truth(/*depth=*/2);
    return " visible { ^bb0(%b: index, %h: index, %i: index, %j: index):\n" +
           lines + "  fa.yield " + result + " : i1 }";
  }
  /// The first keys, and a window behind each row.
  std::string sinksAndWindow() {
    std::string isFirst =
        add("arith.cmpi slt, %j, " + constant(1, 20) + " : index");
    std::string distance = binary("subi", "%i", "%j");
    std::string isPast =
        add("arith.cmpi sge, " + distance + ", " + constant(0, 0) + " : index");
    std::string isNear = add("arith.cmpi slt, " + distance + ", " +
                             constant(1, 40) + " : index");
    std::string isIn = add("arith.andi " + isPast + ", " + isNear + " : i1");
    std::string result = add("arith.ori " + isFirst + ", " + isIn + " : i1");
    return " visible { ^bb0(%b: index, %h: index, %i: index, %j: index):\n" +
           lines + "  fa.yield " + result + " : i1 }";
  }
  std::string score() {
    std::string number = integer(/*depth=*/2);
    std::string wide = add("arith.index_cast " + number + " : index to i64");
    std::string real = add("arith.sitofp " + wide + " : i64 to f32");
    std::string part = add("arith.mulf " + real + ", " +
                           add("arith.constant 0.03125 : f32") + " : f32");
    std::string small = add("math.tanh " + part + " : f32");
    std::string sum = add("arith.addf %s, " + small + " : f32");
    return " score { ^bb0(%s: f32, %b: index, %h: index, %i: index, "
           "%j: index):\n" +
           lines + "  fa.yield " + sum + " : f32 }";
  }

private:
  std::string add(const std::string &op) {
    std::string name = "%v" + std::to_string(numValues++);
    lines += "  " + name + " = " + op + "\n";
    return name;
  }
  std::string constant(int64_t least, int64_t most) {
    return add("arith.constant " +
               std::to_string(least + random.integer(most - least)) +
               " : index");
  }
  std::string integer(int depth) {
    const char *leaves[] = {"%i", "%j", "%i", "%j", "%h", "%b"};
    if (depth == 0)
      return leaves[random.integer(5)];
    std::string a = integer(depth - 1);
    switch (random.integer(7)) {
    case 0:
      return binary("addi", a, integer(depth - 1));
    case 1:
    case 2:
      return binary("subi", a, integer(depth - 1));
    case 3:
      return binary("muli", a, constant(-3, 5));
    case 4:
      return binary("floordivsi", a, constant(1, 20));
    case 5:
      return binary("remsi", a, constant(1, 9));
    case 6:
      return binary(random.integer(1) ? "minsi" : "maxsi", a,
                    integer(depth - 1));
    default:
      return a;
    }
  }
  std::string binary(const char *op, const std::string &a,
                     const std::string &c) {
    return add(std::string("arith.") + op + " " + a + ", " + c + " : index");
  }
  std::string truth(int depth) {
    if (depth == 0 || random.integer(3) == 0) {
      const char *order[] = {"sge", "sle", "slt", "ne", "sgt"};
      std::string a = integer(2), c = constant(-20, 60);
      return add(std::string("arith.cmpi ") + order[random.integer(4)] + ", " +
                 a + ", " + c + " : index");
    }
    std::string a = truth(depth - 1), c = truth(depth - 1);
    const char *join[] = {"andi", "ori", "xori"};
    return add(std::string("arith.") + join[random.integer(2)] + " " + a +
               ", " + c + " : i1");
  }

  RandomSource random;
  std::string lines;
  int numValues = 0;
};

} // namespace

Configuration::Configuration(uint64_t seed) : seed(seed) {
  RandomSource random(seed, /*stream=*/96);
  auto pick = [&](Question question, int64_t most) {
    choices[question] = random.integer(most);
  };
  // A clause is there in one of `rarity` draws.
  auto maybe = [&](Question question, int64_t rarity, int64_t most = 1) {
    choices[question] =
        random.integer(rarity - 1) ? 0 : 1 + random.integer(most - 1);
  };
  pick(Type, 2);
  maybe(OutType, 4, 2);
  pick(HeadDim, 3);
  pick(ValueDim, 3);
  maybe(Scale, 3, 6);
  maybe(Softcap, 4);
  maybe(Score, 4);
  maybe(Alibi, 4);
  maybe(Bias, 4, 3);
  maybe(Causal, 3, 3);
  maybe(Window, 4, 3);
  maybe(Chunk, 5, 2);
  maybe(Mask, 4, 3);
  maybe(Visible, 4, 2);
  maybe(Segments, 4);
  maybe(QLengths, 4);
  maybe(KVLengths, 4);
  maybe(Sink, 4);
  maybe(Dropout, 4, 3);
  maybe(EmptyRow, 4, 2);
  maybe(Layout, 4);
  pick(Target, 1);
  pick(Tiles, 3);
  pick(State, 1);
  pick(Batch, 1);
  pick(Group, 3);
  pick(KVHeads, 1);
  pick(Queries, 70);
  pick(Keys, 90);
  maybe(Polynomial, 4, 4);
  for (Question question :
       {StaticBatch, StaticHeads, StaticKVHeads, StaticQueries, StaticKeys})
    maybe(question, 3);
}

Form Configuration::form() const {
  const Configuration &c = *this;
  const char *types[] = {"f16", "bf16", "f32"};
  const char *masks[] = {"", "?x?x?x?", "?x1", "1x?x1x?"};
  Form form;
  form.type = types[c[Type]];
  form.outType = c[OutType] ? types[(c[Type] + c[OutType]) % 3] : "";
  form.headDim = std::array{16, 24, 40, 72}[size_t(c[HeadDim])];
  form.valueDim = std::array{16, 8, 33, 80}[size_t(c[ValueDim])];
  const char *scales[] = {"", "scale(0.25) ",   "scale(-0.5) ",   "scale(0.0) ",
                          "", "scale(1.0e38) ", "scale(-1.0e38) "};
  form.clauses = scales[c[Scale]];
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
  if (c[Softcap])
    form.clauses += " softcap(1.5)";
  if (c[Score])
    form.clauses += RegionWriter(seed).score();
  if (c[Visible])
    form.clauses += c[Visible] == 1 ? RegionWriter(seed + 1).visible()
                                    : RegionWriter(seed + 1).sinksAndWindow();
  form.bias = masks[c[Bias]];
  form.biasType = types[(c[Type] + c[Bias]) % 3];
  form.mask = masks[c[Mask]];
  form.hasAlibi = c[Alibi];
  form.hasSink = c[Sink];
  form.hasSegments = c[Segments];
  form.hasQLengths = c[QLengths];
  form.hasKVLengths = c[KVLengths];
  if (c[Dropout])
    form.dropout = std::array{0.5, 0.25, 0.9}[size_t(c[Dropout] - 1)];
  const char *rows[] = {"", "empty_row = \"nan\"", "empty_row = \"uniform\""};
  form.attributes = rows[c[EmptyRow]];
  form.isBSHD = c[Layout];
  const char *tiles[2][4] = {
      {"tile_q=16,tile_kv=16,warps=1", "tile_q=32,tile_kv=16,warps=2,stages=3",
       "tile_q=64,tile_kv=32,warps=2", "tile_q=64,tile_kv=64,warps=4"},
      {"tile_q=64,tile_kv=16", "tile_q=64,tile_kv=32,stages=3",
       "tile_q=128,tile_kv=32", "tile_q=64,tile_kv=64"}};
  // The largest ones of f32 do not fit.
  int64_t largest = form.type == "f32" ? 2 : 3;
  form.schedule = std::string(tiles[c[Target]][std::min(c[Tiles], largest)]) +
                  (c[State] ? ",state=shared" : "");
  if (c[Polynomial] && form.type != "f32")
    form.schedule += ",polynomial=" + std::to_string(c[Polynomial]);
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

Extent5 Configuration::extents() const {
  const Configuration &c = *this;
  int64_t kvHeads = 1 + c[KVHeads];
  return {1 + c[Batch], kvHeads * (1 + c[Group]), kvHeads, 1 + c[Queries],
          c[Keys]};
}

const char *Configuration::target() const {
  return std::array{"sm_80", "sm_90a"}[size_t((*this)[Target])];
}

std::string Configuration::problem() const {
  Form form = this->form();
  mlir::fa::CompileOptions options;
  options.path = "attention.mlir";
  options.text = form.text();
  options.target = target();
  options.schedule = form.schedule;
  Expected<mlir::fa::CompiledKernel> kernel = mlir::fa::compile(options);
  if (!kernel)
    return "refused: " + kernel.error().str();
  Program program;
  program.manifest = std::move(kernel->manifest);
  program.ptx = std::move(kernel->ptx);
  program.ptxName = "kernel.ptx";
  RunSpec spec;
  Extent5 extent = extents();
  spec.dims = {{"B", extent.B},      {"Hq", extent.Hq}, {"Hkv", extent.Hkv},
               {"Sq", extent.Sq},    {"Sk", extent.Sk}, {"D", form.headDim},
               {"Dv", form.valueDim}};
  spec.seed = seed;
  Expected<RunResult> result = run(program, spec, emulator());
  if (!result)
    return "refused: " + result.error().str();
  if (result->failure)
    return "stopped: " + result->failure->str();
  for (const Comparison &comparison : result->comparisons)
    if (!comparison.ok)
      return "wrong: " + comparison.str();
  return "";
}

Configuration Configuration::shrink() const {
  Configuration smallest = *this;
  for (bool isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (size_t question = 0; question < NumQuestions; ++question)
      for (int64_t less : {int64_t(0), smallest.choices[question] / 2,
                           smallest.choices[question] - 1}) {
        if (less < 0 || less >= smallest.choices[question])
          continue;
        Configuration candidate = smallest;
        candidate.choices[question] = less;
        if (candidate.problem().empty())
          continue;
        smallest = candidate;
        isSmaller = true;
        break;
      }
  }
  return smallest;
}

std::string Configuration::str() const {
  return "seed " + std::to_string(seed) + " " + target() + " " +
         extents().str() + " schedule " + form().schedule + "\n" +
         form().text();
}

void checkConfigurations(uint64_t first, int count) {
  for (uint64_t seed = first; seed < first + uint64_t(count); ++seed) {
    Configuration configuration(seed);
    std::string problem = configuration.problem();
    if (problem.empty())
      continue;
    Configuration smallest = configuration.shrink();
    ADD_FAILURE() << "configuration " << seed << ": " << problem
                  << "\nsmallest: " << smallest.problem() << "\n"
                  << smallest.str();
    return;
  }
}

} // namespace farun::test
