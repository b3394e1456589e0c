//===- NpyTest.cpp - .npy files, whole and damaged ------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "fa/Support/Npy.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace farun;

namespace {

/// A file of version 1 (or 2, 3) with this header and these bytes of data.
std::vector<std::byte> file(std::string header, const std::string &data,
                            int version = 1) {
  header += '\n';
  std::string text = "\x93NUMPY";
  text += char(version);
  text += '\0';
  text += char(header.size() & 0xff);
  text += char(header.size() >> 8);
  if (version > 1)
    text += std::string(2, '\0');
  text += header + data;
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::string header(const std::string &descr, const std::string &shape,
                   const char *fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran +
         ", 'shape': " + shape + ", }";
}

std::string raw(const std::vector<float> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * 4);
}

std::string messageOf(const std::vector<std::byte> &content) {
  Expected<NpyFile> result = parseNpy(content, "a.npy");
  return result ? "no error" : result.error().str();
}

std::vector<double> valuesOf(const std::vector<std::byte> &content,
                             ElementType type) {
  Expected<NpyFile> parsed = parseNpy(content, "a.npy");
  EXPECT_TRUE(bool(parsed)) << (parsed ? "" : parsed.error().str());
  if (!parsed)
    return {};
  Expected<Array> array = toArray(std::move(*parsed), type, "a.npy");
  EXPECT_TRUE(bool(array)) << (array ? "" : array.error().str());
  return array ? array->values() : std::vector<double>();
}

TEST(Npy, ReadsAllVersions) {
  for (int version : {1, 2, 3})
    EXPECT_EQ(
        valuesOf(file(header("<f4", "(2, 2)"), raw({1, 2, 3, 4}), version),
                 ElementType::F32),
        (std::vector<double>{1, 2, 3, 4}));
}

TEST(Npy, FortranOrderIsReadRight) {
  // [[1,2,3],[4,5,6]] stored column by column.
  EXPECT_EQ(
      valuesOf(file(header("<f4", "(2, 3)", "True"), raw({1, 4, 2, 5, 3, 6})),
               ElementType::F32),
      (std::vector<double>{1, 2, 3, 4, 5, 6}));
  std::vector<float> values(24);
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 4; ++c)
        values[size_t(a + 2 * b + 6 * c)] = float(12 * a + 4 * b + c);
  std::vector<double> expected(24);
  for (int n = 0; n < 24; ++n)
    expected[size_t(n)] = n;
  EXPECT_EQ(valuesOf(file(header("<f4", "(2, 3, 4)", "True"), raw(values)),
                     ElementType::F32),
            expected);
}

TEST(Npy, BigEndian) {
  EXPECT_EQ(
      valuesOf(file(header(">f4", "(1,)"), std::string("\x3f\x80\0\0", 4)),
               ElementType::F32),
      (std::vector<double>{1}));
  EXPECT_EQ(valuesOf(file(header(">i2", "(1,)"), std::string("\x01\x02", 2)),
                     ElementType::I16),
            (std::vector<double>{258}));
}

TEST(Npy, BFloat16InEveryDisguise) {
  std::string data("\x80\x3f\x00\x40", 4);
  for (const char *descr : {"<V2", "|V2", "bfloat16", "<u2"})
    EXPECT_EQ(valuesOf(file(header(descr, "(2,)"), data), ElementType::BF16),
              (std::vector<double>{1, 2}));
  EXPECT_EQ(
      valuesOf(file(header("|V1", "(1,)"), "\x38"), ElementType::F8E4M3FN),
      (std::vector<double>{1}));
}

TEST(Npy, MasksAreBytesOfZeroAndOne) {
  for (const char *descr : {"|b1", "|u1", "|i1"})
    EXPECT_EQ(valuesOf(file(header(descr, "(3,)"), std::string("\1\0\1", 3)),
                       ElementType::I1),
              (std::vector<double>{1, 0, 1}));
  Expected<NpyFile> two =
      parseNpy(file(header("|u1", "(1,)"), std::string("\2", 1)), "a.npy");
  ASSERT_TRUE(bool(two));
  Expected<Array> mask = toArray(*two, ElementType::I1, "a.npy");
  ASSERT_FALSE(bool(mask));
  EXPECT_EQ(mask.error().str(),
            "a.npy: error: a mask of bytes may hold only 0 and 1, found 2");
}

TEST(Npy, ScalarAndEmptyShapes) {
  EXPECT_EQ(valuesOf(file(header("<f4", "()"), raw({5})), ElementType::F32),
            (std::vector<double>{5}));
  EXPECT_EQ(valuesOf(file(header("<f4", "(2, 0, 3)"), ""), ElementType::F32),
            std::vector<double>());
}

TEST(Npy, WrongTypeNamesBoth) {
  Expected<NpyFile> parsed =
      parseNpy(file(header("<f8", "(1,)"), std::string(8, '\0')), "q.npy");
  ASSERT_TRUE(bool(parsed));
  Expected<Array> array = toArray(*parsed, ElementType::F16, "q.npy");
  ASSERT_FALSE(bool(array));
  EXPECT_EQ(array.error().code, ErrorCode::Input);
  EXPECT_EQ(array.error().str(),
            "q.npy: error: the file holds '<f8' where f16 ('<f2') is needed");
}

TEST(Npy, DamagedFiles) {
  std::vector<std::byte> good =
      file(header("<f4", "(2, 2)"), raw({1, 2, 3, 4}));
  std::vector<std::byte> cut = good;
  cut.resize(good.size() - 1);
  EXPECT_EQ(messageOf(cut),
            "a.npy: error: damaged .npy file: the shape 2x2 of type '<f4' "
            "needs 16 bytes of data and the file has 15");
  cut.resize(20);
  EXPECT_EQ(messageOf(cut),
            "a.npy: error: damaged .npy file: truncated inside the header");
  cut.resize(4);
  EXPECT_NE(messageOf(cut).find("not a .npy file"), std::string::npos);
  good[6] = std::byte(9);
  EXPECT_NE(messageOf(good).find("version 9 is unknown"), std::string::npos);
  good[0] = std::byte('P');
  EXPECT_NE(messageOf(good).find("magic"), std::string::npos);

  EXPECT_NE(messageOf(file("shape (2)", "")).find("not a dictionary"),
            std::string::npos);
  EXPECT_NE(messageOf(file("{'descr': '<f4', }", "")).find("lacks"),
            std::string::npos);
  EXPECT_NE(messageOf(file(header("<c8", "(1,)"), "")).find("'<c8' is not"),
            std::string::npos);
  EXPECT_NE(messageOf(file(header("<f4", "(-1,)"), "")).find("whole numbers"),
            std::string::npos);
  EXPECT_NE(messageOf(file(header("<f4", "(99999999999999999999,)"), ""))
                .find("64 bits"),
            std::string::npos);
  // Asks for 2^80 bytes: refused before anything is allocated.
  EXPECT_NE(messageOf(file(header("<f4", "(1099511627776, 1099511627776)"), ""))
                .find("too large"),
            std::string::npos);
  EXPECT_NE(messageOf(file(header("<f4", "(2, 2)", "Maybe"), ""))
                .find("neither True nor False"),
            std::string::npos);
  std::string twice = header("<f4", "(1,)");
  EXPECT_EQ(messageOf(file(twice.insert(1, "'shape': (2,), "), "four")),
            "a.npy: error: damaged .npy file: the key 'shape' is there twice");
  EXPECT_EQ(messageOf(file(header("<f4", "(1,)") + " x", "four")),
            "a.npy: error: damaged .npy file: text follows the header's "
            "dictionary");
  EXPECT_EQ(messageOf(file(header("<f4", "(1,)") + "  \n", "four")),
            "no error");
  // What a message repeats of a file is short and prints.
  EXPECT_EQ(messageOf(file(header(std::string(500, 'y').c_str(), "(1,)"), "")),
            "a.npy: error: the .npy type '" + std::string(61, 'y') +
                "...' is not supported; accepted are f2 f4 f8, i1 i2 i4 i8, u1 "
                "u2 u4 u8, b1, V2 (bfloat16) and V1 (float8)");
  EXPECT_NE(messageOf(file(header("\x1b[2J", "(1,)"), "")).find("'?[2J'"),
            std::string::npos);
}

TEST(Npy, WhatHasNoEndIsNotRead) {
  EXPECT_EQ(readFileText("/dev/zero").error().str(),
            "/dev/zero: error: is a device where a file is needed");
  EXPECT_EQ(readFileText("/").error().str(),
            "/: error: is a folder where a file is needed");
}

/// No prefix and no single broken byte makes the reader do more than refuse.
TEST(Npy, EveryCutAndEveryBrokenByteIsSurvived) {
  std::vector<std::byte> good =
      file(header("<f2", "(2, 2)", "True"), std::string(8, 'x'));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(bool(parseNpy({good.begin(), good.begin() + size}, "a.npy")));
  for (size_t n = 0; n < good.size(); ++n)
    for (int change : {1, 0x20, 0x80}) {
      std::vector<std::byte> bad = good;
      bad[n] ^= std::byte(change);
      (void)bool(parseNpy(bad, "a.npy"));
    }
}

TEST(Npy, WritesWhatItReads) {
  std::string path = testing::TempDir() + "fa-npy-test.npy";
  Array mask(ElementType::I1, {3}, {1, 0, 1});
  Array half(ElementType::F16, {2, 1, 3}, {1, 2, 3, -4, 0.5, 65504});
  Array brain(ElementType::BF16, {2}, {1.5, -2});
  Array scalar(ElementType::F32, {}, {0.25});
  for (const Array &array : {mask, half, brain, scalar}) {
    ASSERT_TRUE(bool(writeNpy(path, array)));
    Expected<Array> back = readNpyAs(path, array.type);
    ASSERT_TRUE(bool(back)) << back.error().str();
    EXPECT_EQ(back->shape, array.shape);
    EXPECT_EQ(back->values(), array.values());
  }
  EXPECT_EQ(readNpyAny(path)->type, ElementType::F32);
  std::remove(path.c_str());
}

TEST(Npy, MissingFileIsNamed) {
  Expected<Array> array = readNpyAs("/nowhere/q.npy", ElementType::F16);
  ASSERT_FALSE(bool(array));
  EXPECT_EQ(array.error().str(), "/nowhere/q.npy: error: cannot be opened: No "
                                 "such file or directory");
  Status status = writeNpy("/nowhere/q.npy", Array(ElementType::F32, {}));
  EXPECT_FALSE(bool(status));
}

} // namespace
