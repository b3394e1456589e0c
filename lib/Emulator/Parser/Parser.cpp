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
    std::string_view name;
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

uint64_t VariableParser::integer(const char *what, uint64_t most) {
  Operand n = lexer.constant();
  if (n.kind != Operand::Integer)
    Lexer::fail(n.at, std::string(what) + " must be an integer");
  if (uint64_t(n.value) > most)
    Lexer::fail(n.at, std::string(what) + " of " +
                          std::to_string(uint64_t(n.value)) +
                          " is out of range; at most " + std::to_string(most));
  return uint64_t(n.value);
}

/// Opaque handles of textures: 64 bits that no instruction here reads.
static bool isHandle(std::string_view word) {
  return word == ".texref" || word == ".samplerref" || word == ".surfref";
}

static constexpr uint64_t kMaxAlignment = 1 << 20;

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
    std::string_view word = lexer.directive();
    if (word == ".align") {
      v.alignment = uint32_t(integer("an alignment", kMaxAlignment));
    } else if (word == ".ptr") {
      v.isPointer = true;
      // .ptr{.space}{.align N} describes the pointee, not the parameter.
      while (lexer.peek() == '.') {
        if (lexer.directive() == ".align")
          integer("an alignment", kMaxAlignment);
      }
    } else if (word == ".attribute") {
      lexer.expect('(', "after .attribute");
      while (lexer.peek() != ')') {
        if (lexer.dotted().empty() && !lexer.take(',') && !lexer.take('('))
          lexer.fail("expected ')' after an attribute");
        if (lexer.take('(')) { // .unified(number, number)
          do
            lexer.number();
          while (lexer.take(','));
          lexer.expect(')', "after an attribute");
        }
      }
      lexer.expect(')', "after an attribute");
    } else if (word == ".v2" || word == ".v4") {
      elements = uint32_t(word[2] - '0');
    } else if (isHandle(word)) {
      v.type = "b64";
    } else if (typeBytes(word.substr(1))) {
      v.type = word.substr(1);
    } else {
      Lexer::fail(v.at, "unknown type '" + std::string(word) + "'");
    }
  }
  if (v.type.empty())
    lexer.fail("expected a type in this declaration");
  uint32_t size = typeBytes(v.type) * elements;
  v.name = lexer.identifier();
  if (v.name.empty())
    lexer.fail("expected a name in this declaration");
  v.bytes = size;
  bounds(v);
  if (!v.alignment)
    v.alignment = size;
  if (v.alignment & (v.alignment - 1))
    Lexer::fail(v.at, "alignment " + std::to_string(v.alignment) +
                          " is not a power of two");
  return v;
}

/// [n][m]...; v.bytes is that of an element.
void VariableParser::bounds(Variable &v) {
  v.isArray = false;
  while (lexer.take('[')) {
    v.isArray = true;
    constexpr uint64_t kMost = uint64_t(1) << 40;
    Position at = lexer.position();
    uint64_t n = lexer.peek() == ']' ? 0 : integer("an array bound", kMost);
    if (n && v.bytes > kMost / n)
      Lexer::fail(at, "array bound " + std::to_string(n) + " is too large");
    v.bytes *= n;
    lexer.expect(']', "after an array bound");
  }
}

static void append(InitialValue &into, uint64_t value, uint32_t size) {
  for (uint32_t i = 0; i < size; ++i)
    into.bytes.push_back(i < 8 ? uint8_t(value >> 8 * i) : 0);
}

/// symbol{+n}, generic(symbol){+n}; `mask` as in 0xFF00(symbol).
void VariableParser::initialSymbol(std::string_view name, uint64_t mask,
                                   const Variable &v, InitialValue &into) {
  InitialValue::Symbol s{};
  s.at = lexer.position();
  if (name == "generic" && lexer.take('(')) {
    name = lexer.identifier();
    lexer.expect(')', "after generic(symbol");
  }
  if (name.empty())
    lexer.fail("expected a number or a symbol as an initial value");
  s.name = name;
  s.addend = uint64_t(lexer.offsets());
  s.offset = into.bytes.size();
  s.size = typeBytes(v.type);
  s.mask = mask;
  s.shift = uint32_t(__builtin_ctzll(mask));
  into.symbols.push_back(s);
  append(into, 0, s.size);
}

/// The bits of a literal as a value of `type`.
static uint64_t bitsAs(const Operand &n, std::string_view type) {
  double wide = double(n.value);
  if (n.kind == Operand::Float32) {
    uint32_t bits = uint32_t(n.value);
    float narrow;
    std::memcpy(&narrow, &bits, 4);
    wide = narrow;
  } else if (n.kind == Operand::Float64) {
    std::memcpy(&wide, &n.value, 8);
  }
  if (n.kind == Operand::Float32 && type != "f64")
    return uint64_t(n.value);
  if (type == "f32" || (n.kind == Operand::Float64 && typeBytes(type) == 4)) {
    float narrow = float(wide);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    return bits;
  }
  uint64_t bits = uint64_t(n.value);
  if (type == "f64")
    std::memcpy(&bits, &wide, 8);
  return bits;
}

void VariableParser::initialElement(const Variable &v, InitialValue &into) {
  uint32_t size = typeBytes(v.type);
  bool isNumber = lexer.startsNumber() || lexer.peek() == '(' ||
                  lexer.peek() == '~' || lexer.peek() == '!';
  if (isNumber) {
    Operand n = lexer.constant();
    if (n.kind == Operand::Integer && n.value && lexer.take('(')) {
      initialSymbol(lexer.identifier(), uint64_t(n.value), v, into);
      lexer.expect(')', "after a masked symbol");
      return;
    }
    return append(into, bitsAs(n, v.type), size);
  }
  std::string_view name = lexer.identifier();
  if (name == "WARP_SZ")
    return append(into, 32, size);
  initialSymbol(name, ~0ull, v, into);
}

/// As many as dimensions of an array.
static constexpr int kMaxInitialDepth = 16;

void VariableParser::initialList(const Variable &v, InitialValue &into,
                                 int depth) {
  if (depth > kMaxInitialDepth)
    lexer.fail("an initialiser list is nested more than " +
               std::to_string(kMaxInitialDepth) + " deep");
  do {
    if (lexer.take('{')) {
      initialList(v, into, depth + 1);
      lexer.expect('}', "after an initialiser list");
    } else if (lexer.peek() != '}') {
      initialElement(v, into);
    }
  } while (lexer.take(','));
}

InitialValue VariableParser::initialValue(const Variable &v) {
  InitialValue value;
  if (lexer.take('{')) {
    initialList(v, value, 1);
    lexer.expect('}', "after an initialiser list");
  } else {
    initialElement(v, value);
  }
  if (v.bytes && value.bytes.size() > v.bytes)
    Lexer::fail(v.at, "'" + std::string(v.name) + "' has " +
                          std::to_string(v.bytes) + " bytes but " +
                          std::to_string(value.bytes.size()) + " initial ones");
  return value;
}

/// After '='. A list is only skipped, unless it says how long the array is.
void VariableParser::takeInitialText(Variable &v) {
  v.initialAt = lexer.position();
  const char *start = lexer.here();
  if (v.bytes && lexer.peek() == '{') {
    lexer.take('{');
    lexer.balancedBraces();
  } else {
    uint64_t bytes = initialValue(v).bytes.size();
    v.bytes = v.bytes ? v.bytes : bytes;
  }
  v.initialText = {start, size_t(lexer.here() - start)};
}

void VariableParser::variables(Variable::Space space, bool isExtern,
                               std::vector<Variable> &into) {
  Variable v = declarator(space);
  uint32_t element = v.bytes && !v.isArray ? uint32_t(v.bytes) : v.alignment;
  v.isExtern = isExtern;
  if (lexer.take('='))
    takeInitialText(v);
  into.push_back(v);
  while (lexer.take(',')) {
    Variable next = v;
    next.initialText = {};
    next.at = lexer.position();
    next.name = lexer.identifier();
    if (next.name.empty())
      lexer.fail("expected a name after ','");
    next.bytes = v.isArray ? typeBytes(v.type) : element;
    bounds(next);
    if (lexer.take('='))
      takeInitialText(next);
    into.push_back(next);
  }
  lexer.expect(';', "after a declaration");
}

std::vector<Variable> VariableParser::parameters() {
  std::vector<Variable> result;
  if (!lexer.take('('))
    return result;
  while (lexer.peek() != ')') {
    Position at = lexer.position();
    std::string_view word = lexer.directive();
    Variable::Space space = Variable::Param;
    bool isRegister = word == ".reg";
    if (!isRegister && (!isSpace(word, space) || space != Variable::Param))
      Lexer::fail(at, "expected .param");
    result.push_back(declarator(space));
    result.back().isRegister = isRegister;
    if (!lexer.take(','))
      break;
  }
  lexer.expect(')', "after the parameters");
  return result;
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
    std::string_view word = lexer.directive();
    if (word == ".version") {
      file.version = lexer.dotted();
    } else if (word == ".target") {
      file.targetAt = lexer.position();
      file.target = lexer.dotted();
      while (lexer.take(','))
        lexer.dotted(); // debug, texmode_independent
    } else if (word == ".address_size") {
      if (integer("the address size", 64) != 64)
        Lexer::fail(at, "only .address_size 64 is supported");
    } else if (word == ".file") {
      uint32_t number = uint32_t(integer("a file number", 1 << 20));
      file.sources.push_back({number, std::string(lexer.quoted())});
      while (lexer.take(','))
        lexer.number();
    } else if (word == ".section") {
      lexer.dotted();
      lexer.expect('{', "after .section");
      lexer.balancedBraces();
    } else if (word == ".pragma") {
      lexer.skipStatement();
    } else if (word == ".alias") {
      std::string_view name = lexer.identifier();
      lexer.expect(',', "between the names of .alias");
      file.aliases.push_back({name, lexer.identifier()});
      lexer.expect(';', "after .alias");
    } else if (word.empty() || word[0] != '.') {
      if (word.empty() && lexer.take(';'))
        return;
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
      word = lexer.directive();
    }
    Variable::Space space;
    if (word == ".entry" || word == ".func")
      return function(at, word == ".entry", isExtern);
    if (!isSpace(word, space) || space == Variable::Param ||
        space == Variable::Local)
      Lexer::fail(at, "unsupported directive '" + std::string(word) + "'");
    variables(space, isExtern, file.variables);
  }

  Dim3 dims() {
    constexpr uint64_t kMost = 0xFFFFFFFF;
    Dim3 d;
    d.x = uint32_t(integer("a dimension", kMost));
    if (lexer.take(','))
      d.y = uint32_t(integer("a dimension", kMost));
    if (lexer.take(','))
      d.z = uint32_t(integer("a dimension", kMost));
    return d;
  }

  /// Between the parameters and the body; false when it is none of these.
  bool performance(std::string_view word, Function &f) {
    if (word == ".maxntid")
      f.maximumThreads = dims();
    else if (word == ".reqntid")
      f.requiredThreads = dims();
    else if (word == ".reqnctapercluster")
      f.requiredCluster = dims();
    else if (word == ".maxnreg")
      f.maximumRegisters = uint32_t(integer("a limit", 0xFFFFFFFF));
    else if (word == ".explicitcluster")
      f.isExplicitCluster = true;
    else if (word == ".minnctapersm" || word == ".maxnctapersm" ||
             word == ".maxclusterrank" || word == ".abi_preserve" ||
             word == ".abi_preserve_control")
      integer("a limit", 0xFFFFFFFF);
    else if (word == ".pragma")
      lexer.skipStatement();
    else
      return word == ".noreturn" || word == ".blocksareclusters";
    return true;
  }

  /// .attribute(.unified(uuid1, uuid2)) before the name of a function.
  void attributes() {
    while (lexer.peek() == '.') {
      Position where = lexer.position();
      std::string_view word = lexer.directive();
      if (word != ".attribute" && word != ".noreturn")
        Lexer::fail(where, "unsupported directive '" + std::string(word) + "'");
      if (word == ".noreturn" || !lexer.take('('))
        continue;
      for (unsigned depth = 1; depth && !lexer.atEnd();) {
        if (lexer.take('('))
          ++depth;
        else if (lexer.take(')'))
          --depth;
        else if (lexer.dotted().empty() && !lexer.take(','))
          lexer.fail("expected ')' after an attribute");
      }
    }
  }

  void function(Position at, bool isEntry, bool isExtern) {
    Function f;
    f.at = at;
    f.isEntry = isEntry;
    f.isExtern = isExtern;
    attributes();
    if (!isEntry)
      f.results = parameters();
    f.name = lexer.identifier();
    if (f.name.empty())
      lexer.fail("expected the name of a function");
    f.parameters = parameters();
    while (lexer.peek() == '.') {
      Position where = lexer.position();
      std::string_view word = lexer.directive();
      if (!performance(word, f))
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

std::string ptxvm::readable(std::string_view message) {
  constexpr size_t kFirst = 300, kLast = 100;
  bool isLong = message.size() > kFirst + kLast;
  std::string_view head = isLong ? message.substr(0, kFirst) : message;
  std::string_view tail =
      isLong ? message.substr(message.size() - kLast) : std::string_view();
  std::string text;
  auto add = [&](std::string_view part) {
    static constexpr char kDigits[] = "0123456789ABCDEF";
    for (unsigned char c : part) {
      if (c >= ' ' && c <= '~') {
        text += char(c);
        continue;
      }
      text += "\\x";
      text += {kDigits[c >> 4], kDigits[c & 15]};
    }
  };
  add(head);
  if (isLong)
    text += " ... ";
  add(tail);
  return text;
}

static Diagnostic toDiagnostic(const SyntaxError &error,
                               const std::string &filename) {
  Diagnostic d;
  d.origin = "parser";
  d.message = readable(error.message);
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

Expected<InitialValue> ptxvm::parseInitialValue(const Variable &variable,
                                                const std::string &filename) {
  try {
    Lexer lexer(variable.initialText, variable.initialAt);
    return VariableParser(lexer).initialValue(variable);
  } catch (const SyntaxError &error) {
    return toDiagnostic(error, filename);
  }
}
