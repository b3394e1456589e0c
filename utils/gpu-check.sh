#!/usr/bin/env bash
#===- gpu-check.sh - packages to a GPU machine, and figures back -----------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
# `pack` compiles the attention that is to be measured, where the compiler is
# built, into a folder that holds all that the GPU machine needs. `run` checks
# and times it there (gpu_check.py says what exactly). The folder has a copy of
# this script, so copying the folder is enough.
set -euo pipefail

usage() {
  cat <<'END'
usage: gpu-check.sh pack FOLDER [--target=sm_90a] [--head-dims=64,128,256]
                    [--types=bf16] [--cubin]
       gpu-check.sh run FOLDER [--dry-run] [--output=FILE.json] [...]

pack  needs fa-compile and fa-launch in $FA_BUILD/bin (default: build/bin)
run   needs a CUDA driver and a Python with PyTorch ($PYTHON, default: python3);
      run FOLDER --help lists its options. It stops by itself within 6 minutes.

Exit codes: 0 right, 1 a result is wrong or a package did not compile, 2 wrong
usage, 3 something is missing.
END
}

say() { printf 'gpu-check: %s\n' "$*" >&2; }
die() { local code=$1; shift; say "error: $*"; exit "$code"; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
# Of run, all in all; gpu_check.py begins no case after 5 minutes.
readonly seconds=360

# attention HEAD_DIM MASK TYPE: the program as MLIR.
attention() {
  local tensor="tensor<?x?x?x$1x$3>" masks=""
  [[ $2 == full ]] || masks=" masks [#fa.causal<bottom_right>]"
  cat <<END
func.func @attention(%q: $tensor, %k: $tensor, %v: $tensor) -> $tensor {
  %o = fa.attention %q, %k, %v$masks
       : $tensor, $tensor, $tensor -> $tensor
  return %o : $tensor
}
END
}

pack() {
  local folder=$1 target=sm_90a head_dims=64,128,256 types=bf16 cubin=()
  shift
  for option in "$@"; do
    case $option in
      --target=*) target=${option#*=} ;;
      --head-dims=*) head_dims=${option#*=} ;;
      --types=*) types=${option#*=} ;;
      --cubin) cubin=(--cubin) ;;
      *) usage >&2; die 2 "unknown option '$option'" ;;
    esac
  done
  local build=${FA_BUILD:-$here/../build} tool refused=0
  for tool in fa-compile fa-launch; do
    [[ -x $build/bin/$tool ]] || die 3 "$build/bin/$tool is not built"
  done
  mkdir -p "$folder"
  local type dim mask name
  for type in ${types//,/ }; do
    for dim in ${head_dims//,/ }; do
      for mask in causal full; do
        name=hd$dim-$mask-$type
        attention "$dim" "$mask" "$type" >"$folder/$name.mlir"
        if "$build/bin/fa-compile" "$folder/$name.mlir" "--target=$target" \
          "${cubin[@]}" -o "$folder/$name.fapkg"; then
          say "$name for $target"
        else
          say "$name did not compile"
          refused=1
        fi
      done
    done
  done
  cp "$build/bin/fa-launch" "$here/gpu-check.sh" "$here/gpu_check.py" \
    "$here/gpu_package.py" "$folder/"
  return "$refused"
}

run() {
  local python=${PYTHON:-python3} code=0
  command -v "$python" >/dev/null || die 3 "no $python here; PYTHON names one"
  timeout "$seconds" "$python" "$here/gpu_check.py" "$@" || code=$?
  [[ $code -ne 124 ]] || die 3 "stopped after $seconds seconds; the JSON has" \
    "what was measured before"
  return "$code"
}

command=${1:-help}
case $command in
  pack | run)
    [[ $# -ge 2 ]] || { usage >&2; die 2 "$command needs a folder"; }
    shift
    "$command" "$@"
    ;;
  help | -h | --help) usage ;;
  *) usage >&2; die 2 "unknown command '$command'" ;;
esac
