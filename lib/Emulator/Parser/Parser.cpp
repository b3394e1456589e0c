//===- Parser.cpp - text to syntax ----------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Module level: directives, variables, function signatures. Bodies are in
// BodyParser.cpp.
//
//===----------------------------------------------------------------------===//
#include "Parser.h"
#include "ParserImpl.h"

using namespace ptxvm;
using namespace ptxvm::ast;

uint32_t ptxvm::typeBytes(std::string_view type) {
  static constexpr struct {
    const char *name;
    uint32_t bytes;
  } kTypes[] = {{"b8", 1},     {"u8", 1},   {"s8", 1},     {"b16", 2},
                {"u16", 2},    {"s16", 2},  {"f16", 2},    {"bf16", 2},
                {"b32", 4},    {"u32", 4},  {"s32", 4},    {"f32", 4},
                {"f16x2", 4},  {"tf32", 4}, {"b64", 8},    {"u64", 8},
                {"bf16x2", 4}, {"s64", 8},  {"f64", 8},    {"f32x2", 8},
                {"b128", 16},  {"pred", 1}, {"e4m3x2", 2}, {"e5m2x2", 2}};
  for (auto &entry : kTypes)
    if (type == entry.name)
      return entry.bytes;
  return 0;
}

static bool isSpace(std::string_view word, Variable::Space &space) {
  if (word == ".global")
    space = Variable::Global;
  else if (word == ".const")
    space = Variable::Const;
  else if (word == ".shared")
    space = Variable::Shared;
  else if (word == ".local")
    space = Variable::Local;
  else if (word == ".param")
    space = Variable::Param;
  else
    return false;
  return true;
}

static uint64_t integerOf(Lexer &lexer, const char *what) {
  Operand n = lexer.number();
  if (n.kind != Operand::Integer)
    Lexer::fail(n.at, std::string(what) + " must be an integer");
  return uint64_t(n.value);
}

/// `.align N`, the type, the name and the array bounds of one variable; the
/// space word is already taken.
Variable VariableParser::declarator(Variable::Space space) {
  Variable v;
  v.space = space;
  uint32_t elements = 1;
  for (;;) {
    v.at = lexer.position();
    if (lexer.peek() != '.')
      break;
    std::string_view word = lexer.dotted();
    if (word == ".align") {
      v.alignment = uint32_t(integerOf(lexer, "an alignment"));
    } else if (word == ".ptr") {
      v.isPointer = true;
      // .ptr{.space}{.align N} describes the pointee, not the parameter.
      while (lexer.peek() == '.') {
        if (lexer.dotted() == ".align")
          integerOf(lexer, "an alignment");
      }
    } else if (word == ".v2" || word == ".v4") {
      elements = uint32_t(word[2] - '0');
    } else if (typeBytes(word.substr(1))) {
      v.type = word.substr(1);
    } else {
      Lexer::fail(v.at, "unknown type '" + std::string(word) + "'");
    }
  }
  if (v.type.empty())
    lexer.fail("expected a type in this declaration");
  uint32_t size = typeBytes(v.type);
  v.name = lexer.identifier();
  if (v.name.empty())
    lexer.fail("expected a name in this declaration");
  v.bytes = uint64_t(size) * elements;
  while (lexer.take('[')) {
    v.isArray = true;
    Position at = lexer.position();
    uint64_t n = lexer.peek() == ']' ? 0 : integerOf(lexer, "an array bound");
    if (n && v.bytes > (uint64_t(1) << 40) / n)
      Lexer::fail(at, "array bound " + std::to_string(n) + " is too large");
    v.bytes *= n;
    lexer.expect(']', "after an array bound");
  }
  if (!v.alignment)
    v.alignment = size * elements;
  if (v.alignment & (v.alignment - 1))
    Lexer::fail(v.at, "alignment " + std::to_string(v.alignment) +
                          " is not a power of two");
  return v;
}

void VariableParser::initialiser(Variable &v) {
  uint64_t offset = 0;
  uint32_t size = typeBytes(v.type);
  auto one = [&] {
    Variable::Initialiser init{offset, size, 0, {}};
    if (lexer.startsNumber()) {
      Operand n = lexer.number();
      init.value = uint64_t(n.value);
      if (n.kind == Operand::Float64 && size == 4) {
        double wide;
        std::memcpy(&wide, &n.value, 8);
        float narrow = float(wide);
        uint32_t bits;
        std::memcpy(&bits, &narrow, 4);
        init.value = bits;
      }
    } else {
      std::string_view name = lexer.identifier();
      if (name == "generic" && lexer.take('(')) {
        name = lexer.identifier();
        lexer.expect(')', "after generic(symbol");
      }
      if (name.empty())
        lexer.fail("expected a number or a symbol as an initial value");
      init.symbol = name;
      if (lexer.peek() == '+' || lexer.peek() == '-')
        init.value = integerOf(lexer, "an offset");
    }
    v.initialisers.push_back(init);
    offset += size;
  };
  auto list = [&](auto &self) -> void {
    do {
      if (lexer.take('{')) {
        self(self);
        lexer.expect('}', "after an initialiser list");
      } else if (lexer.peek() != '}') {
        one();
      }
    } while (lexer.take(','));
  };
  if (lexer.take('{')) {
    list(list);
    lexer.expect('}', "after an initialiser list");
  } else {
    one();
  }
  if (v.bytes == 0)
    v.bytes = offset;
  if (offset > v.bytes)
    Lexer::fail(v.at, "'" + std::string(v.name) + "' has " +
                          std::to_string(v.bytes) + " bytes but " +
                          std::to_string(offset) + " initial ones");
}

void VariableParser::variables(Variable::Space space, bool isExtern,
                               std::vector<Variable> &into) {
  Variable v = declarator(space);
  v.isExtern = isExtern;
  if (lexer.take('='))
    initialiser(v);
  into.push_back(v);
  while (lexer.take(',')) {
    Variable next = v;
    next.initialisers.clear();
    next.at = lexer.position();
    next.name = lexer.identifier();
    if (next.name.empty())
      lexer.fail("expected a name after ','");
    next.bytes = typeBytes(v.type);
    while (lexer.take('[')) {
      next.bytes *= integerOf(lexer, "an array bound");
      lexer.expect(']', "after an array bound");
    }
    into.push_back(next);
  }
  lexer.expect(';', "after a declaration");
}

namespace {
/// The module level of one file.
class FileParser : VariableParser {
public:
  FileParser(std::string_view text) : VariableParser(own), own(text, {1, 1}) {}

  File run() {
    while (!lexer.atEnd())
      directive();
    if (file.version.empty())
      throw SyntaxError{{1, 1}, "this is not a PTX file: no .version"};
    return std::move(file);
  }

private:
  void directive() {
    Position at = lexer.position();
    std::string_view word = lexer.dotted();
    if (word == ".version") {
      file.version = lexer.dotted();
    } else if (word == ".target") {
      file.target = lexer.dotted();
      while (lexer.take(','))
        lexer.dotted();
    } else if (word == ".address_size") {
      if (integerOf(lexer, "the address size") != 64)
        Lexer::fail(at, "only .address_size 64 is supported");
    } else if (word == ".file") {
      uint32_t number = uint32_t(integerOf(lexer, "a file number"));
      file.sources.push_back({number, std::string(lexer.quoted())});
      while (lexer.take(','))
        lexer.number();
    } else if (word == ".section") {
      lexer.dotted();
      lexer.expect('{', "after .section");
      lexer.balancedBraces();
    } else if (word == ".pragma" || word == ".alias") {
      lexer.skipStatement();
    } else if (word.empty() || word[0] != '.') {
      Lexer::fail(at, "expected a directive at module level");
    } else {
      declaration(at, word);
    }
  }

  void declaration(Position at, std::string_view word) {
    bool isExtern = false;
    while (word == ".visible" || word == ".extern" || word == ".weak" ||
           word == ".common") {
      isExtern |= word == ".extern";
      word = lexer.dotted();
    }
    Variable::Space space;
    if (word == ".entry" || word == ".func")
      return function(at, word == ".entry");
    if (!isSpace(word, space) || space == Variable::Param ||
        space == Variable::Local)
      Lexer::fail(at, "unsupported directive '" + std::string(word) + "'");
    // .global .attribute(.managed) and the like.
    variables(space, isExtern, file.variables);
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> result;
    if (!lexer.take('('))
      return result;
    while (lexer.peek() != ')') {
      Position at = lexer.position();
      std::string_view word = lexer.dotted();
      Variable::Space space;
      if (word == ".reg")
        Lexer::fail(at, "unsupported: a parameter in .reg space");
      if (!isSpace(word, space) || space != Variable::Param)
        Lexer::fail(at, "expected .param");
      result.push_back(declarator(space));
      if (!lexer.take(','))
        break;
    }
    lexer.expect(')', "after the parameters");
    return result;
  }

  Dim3 dims() {
    Dim3 d;
    d.x = uint32_t(integerOf(lexer, "a dimension"));
    if (lexer.take(','))
      d.y = uint32_t(integerOf(lexer, "a dimension"));
    if (lexer.take(','))
      d.z = uint32_t(integerOf(lexer, "a dimension"));
    return d;
  }

  void function(Position at, bool isEntry) {
    Function f;
    f.at = at;
    f.isEntry = isEntry;
    if (!isEntry)
      f.results = parameters();
    f.name = lexer.identifier();
    if (f.name.empty())
      lexer.fail("expected the name of a function");
    f.parameters = parameters();
    while (lexer.peek() == '.') {
      Position where = lexer.position();
      std::string_view word = lexer.dotted();
      if (word == ".maxntid")
        f.maximumThreads = dims();
      else if (word == ".reqntid")
        f.requiredThreads = dims();
      else if (word == ".reqnctapercluster")
        f.requiredCluster = dims();
      else if (word == ".maxnreg")
        f.maximumRegisters = uint32_t(integerOf(lexer, "a limit"));
      else if (word == ".explicitcluster")
        f.isExplicitCluster = true;
      else if (word == ".minnctapersm" || word == ".maxnctapersm" ||
               word == ".maxclusterrank")
        integerOf(lexer, "a limit");
      else if (word == ".pragma")
        lexer.skipStatement();
      else if (word != ".noreturn" && word != ".blocksareclusters")
        Lexer::fail(where, "unsupported directive '" + std::string(word) + "'");
    }
    if (!lexer.take(';')) {
      lexer.expect('{', "before the body of a function");
      f.bodyAt = lexer.position();
      f.body = lexer.balancedBraces();
      f.hasBody = true;
    }
    file.functions.push_back(std::move(f));
  }

  Lexer own;
  File file;
};
} // namespace

static Diagnostic toDiagnostic(const SyntaxError &error,
                               const std::string &filename) {
  Diagnostic d;
  d.origin = "parser";
  d.message = error.message;
  d.location = {filename, error.at.line, error.at.column};
  return d;
}

Expected<File> ptxvm::parseFile(std::string_view text,
                                const std::string &filename) {
  try {
    return FileParser(text).run();
  } catch (const SyntaxError &error) {
    return toDiagnostic(error, filename);
  }
}

Expected<std::vector<Statement>> ptxvm::parseBody(const Function &function,
                                                  const std::string &filename) {
  try {
    return BodyParser(function).run();
  } catch (const SyntaxError &error) {
    return toDiagnostic(error, filename);
  }
}
