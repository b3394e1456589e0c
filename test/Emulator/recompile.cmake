#===- recompile.cmake - the kernels of others, compiled anew ---------------===#
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs COMPILE (a list: the interpreter, compile.py and its options) with
# --out=WORK_DIR/FOLDER/Inputs and then TESTS, those of FILTER, on the result.
#===-----------------------------------------------------------------------===#
file(REMOVE_RECURSE "${WORK_DIR}")
execute_process(COMMAND ${COMPILE} "--out=${WORK_DIR}/${FOLDER}/Inputs"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "FA_COMPILED_PTX=${WORK_DIR}" "${TESTS}"
    "--gtest_filter=${FILTER}" --gtest_brief=1
  COMMAND_ERROR_IS_FATAL ANY)
