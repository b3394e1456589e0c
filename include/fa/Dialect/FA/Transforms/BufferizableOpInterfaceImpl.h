//===- BufferizableOpInterfaceImpl.h - bufferization of fa ops --*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With these models upstream's one-shot-bufferize knows our ops: another
// compiler bufferizes its program around fa.attention by itself.
//===----------------------------------------------------------------------===//

#ifndef FA_DIALECT_FA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define FA_DIALECT_FA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;

namespace fa {
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);
} // namespace fa
} // namespace mlir

#endif // FA_DIALECT_FA_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
