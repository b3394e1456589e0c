//===- Npy.cpp - NumPy's array files --------------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header of a .npy file is a Python dict literal with three keys; only
// that subset of Python is parsed. Sizes are checked against the file before
// anything is allocated, so a damaged header cannot ask for the machine.
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Npy.h"

#include "fa/Support/OutputFile.h"
#include "fa/Support/Text.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

static_assert(std::endian::native == std::endian::little,
              "arrays are kept in the byte order of the host");

namespace farun {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 32;

Error npyError(const std::string &path, const std::string &what) {
  return inputError(what, {path, 0, 0});
}

/// {'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &path)
      : text(text), path(path) {}

  std::string descr;
  std::vector<int64_t> shape;
  bool fortranOrder = false;

  Status parse() {
    if (!accept('{'))
      return bad("the header is not a dictionary");
    while (!accept('}')) {
      Status status = parseEntry();
      if (!status)
        return status;
      if (!accept(',') && peek() != '}')
        return bad("the header's dictionary is not closed");
    }
    if (peek() != '\0' || position < text.size())
      return bad("text follows the header's dictionary");
    if (!sawDescr || !sawOrder || !sawShape)
      return bad("the header lacks 'descr', 'fortran_order' or 'shape'");
    return {};
  }

private:
  Status bad(const std::string &what) {
    return npyError(path, "damaged .npy file: " + what);
  }

  char peek() {
    while (position < text.size() &&
           std::isspace((unsigned char)text[position]))
      ++position;
    return position < text.size() ? text[position] : '\0';
  }

  bool accept(char symbol) {
    if (peek() != symbol)
      return false;
    ++position;
    return true;
  }

  bool parseString(std::string &value) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text.find(quote, position + 1);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return true;
  }

  std::string_view parseWord() {
    peek();
    size_t begin = position;
    while (position < text.size() &&
           std::isalpha((unsigned char)text[position]))
      ++position;
    return text.substr(begin, position - begin);
  }

  Status parseEntry() {
    std::string key;
    if (!parseString(key) || !accept(':'))
      return bad("expected a quoted key and ':' in the header");
    bool *saw = key == "descr"           ? &sawDescr
                : key == "fortran_order" ? &sawOrder
                : key == "shape"         ? &sawShape
                                         : nullptr;
    if (!saw)
      return bad("unknown key " + quote(key) + " in the header");
    if (*saw)
      return bad("the key '" + key + "' is there twice");
    *saw = true;
    if (key == "descr") {
      if (peek() == '[')
        return npyError(path, "structured .npy types are not supported");
      return parseString(descr) ? Status()
                                : bad("'descr' is not a quoted type");
    }
    if (key == "fortran_order") {
      std::string_view word = parseWord();
      fortranOrder = word == "True";
      return fortranOrder || word == "False"
                 ? Status()
                 : bad("'fortran_order' is neither True nor False");
    }
    return parseShape();
  }

  Status parseShape() {
    if (!accept('('))
      return bad("'shape' is not a tuple");
    while (!accept(')')) {
      peek();
      size_t begin = position;
      int64_t extent = 0;
      while (position < text.size() &&
             std::isdigit((unsigned char)text[position])) {
        if (__builtin_mul_overflow(extent, int64_t(10), &extent) ||
            __builtin_add_overflow(extent, int64_t(text[position] - '0'),
                                   &extent))
          return bad("an extent in 'shape' does not fit 64 bits");
        ++position;
      }
      if (position == begin || shape.size() == kMaxRank)
        return bad("'shape' is not a tuple of at most 32 whole numbers");
      shape.push_back(extent);
      if (!accept(',') && peek() != ')')
        return bad("'shape' is not closed");
    }
    return {};
  }

  std::string_view text;
  const std::string &path;
  size_t position = 0;
  bool sawDescr = false, sawOrder = false, sawShape = false;
};

/// Splits "<f2" into byte order, kind and size; a bare name (bfloat16) has
/// kind 'n'.
Status splitDescr(NpyFile &file, bool &swap, const std::string &path) {
  const std::string &descr = file.descr;
  if (descr == "bfloat16" || descr.rfind("float8_", 0) == 0) {
    file.kind = 'n';
    file.itemSize = descr == "bfloat16" ? 2 : 1;
    swap = false;
    return {};
  }
  size_t start = !descr.empty() && std::strchr("<>|=", descr[0]) ? 1 : 0;
  bool sized = descr.size() > start + 1 && descr.size() <= start + 3 &&
               std::all_of(descr.begin() + start + 1, descr.end(),
                           [](unsigned char c) { return std::isdigit(c); });
  file.kind = descr.size() > start ? descr[start] : '?';
  size_t size = sized ? std::stoul(descr.substr(start + 1)) : 0;
  bool known = (file.kind == 'f' && (size == 2 || size == 4 || size == 8)) ||
               ((file.kind == 'i' || file.kind == 'u') &&
                (size == 1 || size == 2 || size == 4 || size == 8)) ||
               (file.kind == 'b' && size == 1) ||
               (file.kind == 'V' && (size == 1 || size == 2));
  if (!known)
    return npyError(path, "the .npy type " + quote(descr) +
                              " is not supported; accepted are f2 f4 f8, "
                              "i1 i2 i4 i8, u1 u2 u4 u8, b1, V2 (bfloat16) "
                              "and V1 (float8)");
  file.itemSize = size;
  swap = descr[0] == '>' && size > 1;
  return {};
}

void swapBytes(std::vector<std::byte> &bytes, size_t itemSize) {
  for (size_t n = 0; n + itemSize <= bytes.size(); n += itemSize)
    std::reverse(bytes.begin() + n, bytes.begin() + n + itemSize);
}

/// From first-index-fastest to last-index-fastest.
std::vector<std::byte> transpose(const std::byte *data,
                                 const std::vector<int64_t> &shape,
                                 size_t itemSize, size_t count) {
  std::vector<std::byte> result(count * itemSize);
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t n = 0; n < count; ++n) {
    size_t source = 0;
    for (size_t d = shape.size(); d-- > 0;)
      source = source * size_t(shape[d]) + size_t(index[d]);
    std::memcpy(result.data() + n * itemSize, data + source * itemSize,
                itemSize);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return result;
}

struct Prefix {
  size_t headerBegin = 0, headerSize = 0;
};

/// Magic, version and header length.
Expected<Prefix> parsePrefix(const std::vector<std::byte> &content,
                             const std::string &path) {
  if (content.size() < 10 ||
      std::memcmp(content.data(), kMagic.data(), kMagic.size()) != 0)
    return npyError(path, "not a .npy file: it does not start with the magic "
                          "string \\x93NUMPY");
  auto byteAt = [&](size_t n) { return size_t(content[n]); };
  size_t major = byteAt(6);
  if (major < 1 || major > 3)
    return npyError(path, "the .npy format version " + std::to_string(major) +
                              " is unknown; accepted are 1, 2 and 3");
  Prefix prefix;
  prefix.headerBegin = major == 1 ? 10 : 12;
  prefix.headerSize = byteAt(8) | byteAt(9) << 8;
  if (major > 1 && content.size() >= 12)
    prefix.headerSize |= byteAt(10) << 16 | byteAt(11) << 24;
  if (content.size() < prefix.headerBegin ||
      content.size() - prefix.headerBegin < prefix.headerSize)
    return npyError(path, "damaged .npy file: truncated inside the header");
  return prefix;
}

/// The number of elements, or an error when it cannot be that many.
Expected<size_t> countElements(const NpyFile &file, size_t available,
                               const std::string &path) {
  size_t count = 1;
  bool empty =
      std::find(file.shape.begin(), file.shape.end(), 0) != file.shape.end();
  for (int64_t extent : file.shape)
    if (!empty && __builtin_mul_overflow(count, size_t(extent), &count))
      return npyError(path, "damaged .npy file: the shape " +
                                shapeText(file.shape) + " is too large");
  if (empty)
    count = 0;
  size_t needed = 0;
  bool overflow = __builtin_mul_overflow(count, file.itemSize, &needed);
  if (overflow || needed != available)
    return npyError(
        path,
        "damaged .npy file: the shape " + shapeText(file.shape) + " of type " +
            quote(file.descr) + " needs " +
            (overflow ? std::string("too many") : std::to_string(needed)) +
            " bytes of data and the file has " + std::to_string(available));
  return count;
}

const char *descrFor(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return "<f8";
  case ElementType::F32:
    return "<f4";
  case ElementType::F16:
    return "<f2";
  case ElementType::BF16:
    return "<u2";
  case ElementType::F8E4M3FN:
    return "|u1";
  case ElementType::F8E5M2:
    return "|u1";
  case ElementType::I1:
    return "|b1";
  case ElementType::I8:
    return "|i1";
  case ElementType::U8:
    return "|u1";
  case ElementType::I16:
    return "<i2";
  case ElementType::U16:
    return "<u2";
  case ElementType::I32:
    return "<i4";
  case ElementType::U32:
    return "<u4";
  case ElementType::I64:
    return "<i8";
  case ElementType::U64:
    return "<u8";
  }
  return "";
}

/// The name by which ml_dtypes calls a type that NumPy lacks.
std::string_view extensionName(ElementType type) {
  switch (type) {
  case ElementType::BF16:
    return "bfloat16";
  case ElementType::F8E4M3FN:
    return "float8_e4m3fn";
  case ElementType::F8E5M2:
    return "float8_e5m2";
  default:
    return "";
  }
}

} // namespace

Expected<NpyFile> parseNpy(const std::vector<std::byte> &content,
                           const std::string &path) {
  Expected<Prefix> prefix = parsePrefix(content, path);
  if (!prefix)
    return prefix.takeError();
  HeaderParser header(
      std::string_view(reinterpret_cast<const char *>(content.data()) +
                           prefix->headerBegin,
                       prefix->headerSize),
      path);
  if (Status status = header.parse(); !status)
    return status.takeError();
  NpyFile file;
  file.descr = header.descr;
  file.shape = header.shape;
  bool swap = false;
  if (Status status = splitDescr(file, swap, path); !status)
    return status.takeError();
  size_t begin = prefix->headerBegin + prefix->headerSize;
  Expected<size_t> count = countElements(file, content.size() - begin, path);
  if (!count)
    return count.takeError();
  if (header.fortranOrder && file.shape.size() > 1)
    file.bytes =
        transpose(content.data() + begin, file.shape, file.itemSize, *count);
  else
    file.bytes.assign(content.begin() + begin, content.end());
  if (swap)
    swapBytes(file.bytes, file.itemSize);
  return file;
}

Expected<NpyFile> readNpy(const std::string &path) {
  Expected<std::vector<std::byte>> content = readFileBytes(path);
  if (!content)
    return content.takeError();
  return parseNpy(*content, path);
}

Expected<Array> toArray(NpyFile file, ElementType type,
                        const std::string &path) {
  std::string_view extension = extensionName(type);
  bool matches = false;
  if (!extension.empty())
    matches = file.kind == 'n' ? file.descr == extension
                               : (file.kind == 'V' || file.kind == 'u') &&
                                     file.itemSize == byteSize(type);
  else if (type == ElementType::I1)
    matches = file.itemSize == 1 &&
              (file.kind == 'b' || file.kind == 'u' || file.kind == 'i');
  else
    matches = file.kind == descrFor(type)[1] && file.itemSize == byteSize(type);
  if (!matches)
    return npyError(path, "the file holds '" + file.descr + "' where " +
                              std::string(name(type)) + " ('" + descrFor(type) +
                              "') is needed");
  if (type == ElementType::I1)
    for (std::byte byte : file.bytes)
      if (byte > std::byte(1))
        return npyError(path, "a mask of bytes may hold only 0 and 1, found " +
                                  std::to_string(int(byte)));
  Array array;
  array.type = type;
  array.shape = std::move(file.shape);
  array.bytes = std::move(file.bytes);
  return array;
}

Expected<Array> readNpyAs(const std::string &path, ElementType type) {
  Expected<NpyFile> file = readNpy(path);
  if (!file)
    return file.takeError();
  return toArray(std::move(*file), type, path);
}

Expected<Array> readNpyAny(const std::string &path) {
  Expected<NpyFile> file = readNpy(path);
  if (!file)
    return file.takeError();
  for (int n = int(ElementType::F64); n <= int(ElementType::U64); ++n) {
    ElementType type = ElementType(n);
    bool extension = !extensionName(type).empty();
    bool matches = extension ? file->descr == extensionName(type) ||
                                   (type == ElementType::BF16 &&
                                    file->kind == 'V' && file->itemSize == 2)
                             : file->kind == descrFor(type)[1] &&
                                   file->itemSize == byteSize(type);
    if (matches)
      return toArray(std::move(*file), type, path);
  }
  return npyError(path, "the type '" + file->descr +
                            "' does not say what its bits mean");
}

std::string npyText(const Array &array) {
  std::string shape;
  for (int64_t extent : array.shape)
    shape += std::to_string(extent) + (array.shape.size() == 1 ? "," : ", ");
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  std::string header = std::string("{'descr': '") + descrFor(array.type) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // NumPy aligns the data to 64 bytes and ends the header with a newline.
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string text(kMagic);
  text += '\1';
  text += '\0';
  text += char(header.size() & 0xff);
  text += char(header.size() >> 8);
  text += header;
  text.append(reinterpret_cast<const char *>(array.bytes.data()),
              array.bytes.size());
  return text;
}

Status writeNpy(const std::string &path, const Array &array) {
  return writeFileText(path, npyText(array));
}

Status checkReadable(const std::string &path) {
  std::error_code ignored;
  std::filesystem::file_status place = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(place))
    return inputError("is a folder where a file is needed", {path, 0, 0});
  if (std::filesystem::is_character_file(place) ||
      std::filesystem::is_block_file(place))
    return inputError("is a device where a file is needed", {path, 0, 0});
  return {};
}

Expected<std::string> readFileText(const std::string &path) {
  if (Status status = checkReadable(path); !status)
    return status.takeError();
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return inputError(std::string("cannot be opened: ") + std::strerror(errno),
                      {path, 0, 0});
  std::string text((std::istreambuf_iterator<char>(stream)),
                   std::istreambuf_iterator<char>());
  if (stream.bad())
    return inputError("cannot be read", {path, 0, 0});
  return text;
}

Expected<std::vector<std::byte>> readFileBytes(const std::string &path) {
  Expected<std::string> text = readFileText(path);
  if (!text)
    return text.takeError();
  const std::byte *data = reinterpret_cast<const std::byte *>(text->data());
  return std::vector<std::byte>(data, data + text->size());
}

} // namespace farun
