//===- CodegenGuard.cpp - LLVM's fatal errors as values -------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM ends a process in two ways: an internal error ("Cannot select") aborts,
// a usage error calls exit(1). A crash recovery context catches the first
// only; a fatal error handler that jumps out of that context catches both,
// before either happens. Both are process-wide, so they are installed when the
// first guarded call begins and removed when the last one ends.
//
//===----------------------------------------------------------------------===//
#include "CodegenGuard.h"

#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

namespace mlir::fa {

namespace {

/// The code generator recurses over long chains of nodes.
constexpr unsigned kStackBytes = 64u << 20;
constexpr int kFatalErrorCode = 70; // EX_SOFTWARE of sysexits.h

/// Where the handler leaves its message; set on the guarded thread.
thread_local std::string *currentMessage = nullptr;

void onFatalError(void *, const char *reason, bool) {
  llvm::CrashRecoveryContext *context =
      llvm::CrashRecoveryContext::GetCurrent();
  if (context && currentMessage) {
    *currentMessage = reason;
    context->HandleExit(kFatalErrorCode); // does not return
  }
  // A thread that we do not guard: as LLVM does without a handler.
  llvm::errs() << "LLVM ERROR: " << reason << "\n";
}

/// Holds the process-wide handlers as long as one instance lives.
class HandlerScope {
public:
  HandlerScope() {
    std::lock_guard<std::mutex> lock(mutex());
    if (users()++ != 0)
      return;
    llvm::CrashRecoveryContext::Enable();
    llvm::install_fatal_error_handler(onFatalError);
  }
  ~HandlerScope() {
    std::lock_guard<std::mutex> lock(mutex());
    if (--users() != 0)
      return;
    llvm::remove_fatal_error_handler();
    llvm::CrashRecoveryContext::Disable();
  }
  HandlerScope(const HandlerScope &) = delete;
  HandlerScope &operator=(const HandlerScope &) = delete;

private:
  static std::mutex &mutex() {
    static std::mutex m;
    return m;
  }
  static int &users() {
    static int count = 0;
    return count;
  }
};

} // namespace

bool runGuarded(llvm::function_ref<void()> body, std::string &error) {
  HandlerScope handlers;
  llvm::CrashRecoveryContext context;
  std::string message;
  bool isDone = context.RunSafelyOnThread(
      [&] {
        currentMessage = &message;
        body();
      },
      kStackBytes);
  if (isDone)
    return true;
  // The first line is the message, the rest a dump of LLVM's graph.
  error = message.substr(0, message.find('\n'));
  if (error.empty())
    error = "the code generator crashed";
  return false;
}

} // namespace mlir::fa
