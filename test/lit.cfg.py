# ===- lit.cfg.py - how the lit tests run --------------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
#
# Tools are found by plain name: ours in build/bin first, then LLVM's. A test
# says what it needs by `REQUIRES:`, from these features:
#   mlir        the compiler is built
#   fa-opt ...  that tool of ours is built (its own name)
#   plugin      build/lib/FAPlugin.so is built
#   capi        build/lib/libFA-C.so is built
#   fake-cuda   the fake CUDA driver is built (%fake_cuda is its path)
#   ptxas       an assembler is found (PATH, $CUDA_HOME, the virtual environment)
#   asan        a sanitizer build;   long: too slow for the default run

import os
import shutil

import lit.formats

config.name = "FA"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".ptx", ".test"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)

build_bin = os.path.join(config.fa_build_dir, "bin")
venv_bin = os.path.dirname(config.fa_python)
cuda_homes = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
cuda_bins = [os.path.join(home, "bin") for home in cuda_homes if home]
search = [build_bin, config.llvm_bin, venv_bin, os.environ.get("PATH", "")]
path = os.pathsep.join(search + [d for d in cuda_bins if os.path.isdir(d)])
config.environment["PATH"] = path
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "CUDA_HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# The device cuda is not there, whatever GPU this machine has; a test that wants
# one names a driver.
config.environment["FA_CUDA_DRIVER"] = "no-driver"

fake_cuda = os.path.join(config.fa_build_dir, "unittests/fake-cuda/libcuda.so.1")
config.substitutions.append(("%fake_cuda", fake_cuda))
config.substitutions.append(("%fa_source", config.fa_source_dir))
config.substitutions.append(("%fa_build", config.fa_build_dir))
config.substitutions.append(("%fa_examples", config.fa_source_dir + "/examples"))
config.substitutions.append(("%python", config.fa_python))

if config.fa_enable_mlir:
    config.available_features.add("mlir")
if config.fa_sanitizers:
    config.available_features.add("asan")
if lit_config.params.get("long"):
    config.available_features.add("long")
if os.path.exists(fake_cuda):
    config.available_features.add("fake-cuda")
if shutil.which("ptxas", path=path):
    config.available_features.add("ptxas")
if os.path.exists(os.path.join(config.fa_build_dir, "lib", "FAPlugin.so")):
    config.available_features.add("plugin")
if os.path.exists(os.path.join(config.fa_build_dir, "lib", "libFA-C.so")):
    config.available_features.add("capi")
if os.path.isdir(build_bin):
    for tool in os.listdir(build_bin):
        if os.access(os.path.join(build_bin, tool), os.X_OK):
            config.available_features.add(tool)
