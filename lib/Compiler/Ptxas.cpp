//===- Ptxas.cpp - finding and running NVIDIA's assembler -----------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The assembler is a program of the CUDA toolkit, never a library and never
// required: PTX text needs no tool.
//
//===----------------------------------------------------------------------===//
#include "fa/Compiler/Ptxas.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace mlir::fa {

namespace {

bool isProgram(const std::string &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) &&
         access(path.c_str(), X_OK) == 0;
}

/// Reads what the child writes to `fd`, to its end.
std::string drain(int fd) {
  std::string text;
  char buffer[4096];
  for (;;) {
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0)
      text.append(buffer, size_t(n));
    else if (n == 0 || errno != EINTR)
      return text;
  }
}

} // namespace

farun::Expected<std::string> findPtxas() {
  if (const char *chosen = std::getenv("FA_PTXAS")) {
    if (isProgram(chosen))
      return std::string(chosen);
    return farun::deviceError("FA_PTXAS names no program: ptxas '" +
                              std::string(chosen) + "'");
  }
  std::string search;
  if (const char *path = std::getenv("PATH"))
    search = path;
  if (const char *home = std::getenv("CUDA_HOME"))
    search += std::string(":") + home + "/bin";
  search += ":/usr/local/cuda/bin";
  std::istringstream folders(search);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = (folder.empty() ? "." : folder) + "/ptxas";
    if (isProgram(candidate))
      return candidate;
  }
  return farun::deviceError(
      "--cubin needs ptxas of the CUDA toolkit (or of the PyPI package "
      "nvidia-cuda-nvcc); it is not on PATH, in $CUDA_HOME/bin or "
      "/usr/local/cuda/bin");
}

farun::Status runPtxas(const std::string &ptxas, const std::string &target,
                       const std::string &input, const std::string &output) {
  int fds[2];
  if (pipe(fds) != 0)
    return farun::deviceError("ptxas was not run: " +
                              std::string(std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fds[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, fds[0]);
  posix_spawn_file_actions_addclose(&actions, fds[1]);
  std::string arch = "-arch=" + target;
  const char *argv[] = {ptxas.c_str(), arch.c_str(),   input.c_str(),
                        "-o",          output.c_str(), nullptr};
  pid_t child = 0;
  int failed = posix_spawn(&child, ptxas.c_str(), &actions, nullptr,
                           const_cast<char **>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(fds[1]);
  std::string said = failed ? std::strerror(failed) : drain(fds[0]);
  close(fds[0]);
  int status = 0;
  if (!failed)
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      continue;
  if (failed || status != 0)
    return farun::deviceError(ptxas + " failed: " + said);
  return {};
}

} // namespace mlir::fa
