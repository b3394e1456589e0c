//===- Handle.h - objects behind opaque pointers ----------------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handle is a number that looks like a pointer and is never followed: a tag
// of this copy of the library, the kind of object, and a count that never
// returns. So a freed handle stays dead when its memory lives again, and one
// of another library (or a stray pointer) is told apart from ours.
//
// The table shares its objects with the calls that use them: a handle that is
// freed during a call of another thread dies when that call ends.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_CAPI_HANDLE_H
#define FA_LIB_CAPI_HANDLE_H

#include <memory>
#include <string>

namespace facapi {

/// What a handle stands for. Each kind has its own C type.
enum class Kind : unsigned { Error = 1, Kernel = 2, Run = 3 };

struct Object {
  virtual ~Object() = default;
};

/// The new handle of an object.
void *insertHandle(Kind kind, std::shared_ptr<Object> object);

/// The object, or null; then `problem` says why the handle is none.
std::shared_ptr<Object> findHandle(Kind kind, const void *handle,
                                   std::string &problem);

/// Forgets a handle; false when it is no live one of this kind.
bool eraseHandle(Kind kind, const void *handle);

} // namespace facapi

#endif // FA_LIB_CAPI_HANDLE_H
