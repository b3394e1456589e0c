//===- ManifestNames.h - the manifest's words -------------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Enumerators and how the JSON spells them, for its writer and its reader.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_SUPPORT_MANIFESTNAMES_H
#define FA_LIB_SUPPORT_MANIFESTNAMES_H

#include "fa/Support/Manifest.h"

#include <string_view>

namespace farun {

template <typename E> struct Named {
  E value;
  std::string_view name;
};

inline constexpr Named<OperandKind> kOperandKinds[] = {
    {OperandKind::Input, "input"},
    {OperandKind::Output, "output"},
    {OperandKind::Scalar, "scalar"},
};
inline constexpr Named<ParameterKind> kParameterKinds[] = {
    {ParameterKind::Pointer, "pointer"},
    {ParameterKind::Extent, "extent"},
    {ParameterKind::Stride, "stride"},
    {ParameterKind::Scalar, "scalar"},
    {ParameterKind::Workspace, "workspace"},
    {ParameterKind::TensorMap, "tensormap"},
    {ParameterKind::Trace, "trace"},
};
inline constexpr Named<StructuralMask::Kind> kMaskKinds[] = {
    {StructuralMask::Kind::Causal, "causal"},
    {StructuralMask::Kind::Window, "window"},
    {StructuralMask::Kind::Chunk, "chunk"},
};

template <typename E, size_t N>
std::string_view nameOf(const Named<E> (&table)[N], E value) {
  for (const Named<E> &entry : table)
    if (entry.value == value)
      return entry.name;
  return "";
}

} // namespace farun

#endif // FA_LIB_SUPPORT_MANIFESTNAMES_H
