//===- Schedule.h - the keys of a schedule as plain data --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parameters of #fa.schedule: its syntax, the command line, the manifest
// and reports read this list, some of them without MLIR. Whoever makes an
// attribute of it does not compile until it has all parameters, in their order.
//
//===----------------------------------------------------------------------===//
#ifndef FA_SUPPORT_SCHEDULE_H
#define FA_SUPPORT_SCHEDULE_H

#include <cstdint>
#include <string>

namespace farun {

/// NUMBER(key, member, the attribute's accessor without "get", what it is where
/// the attribute lacks it, the most), WORD(..., what it is then, the other one)
/// and FLAG(...), which is false then. Of rows and keys kMaxPositions leaves
/// room for the most.
#define FA_SCHEDULE_KEYS(NUMBER, WORD, FLAG)                                   \
  NUMBER(tile_q, tileQ, TileQ, 0, 65536)                                       \
  NUMBER(tile_kv, tileKV, TileKv, 0, 65536)                                    \
  NUMBER(warps, warps, Warps, 0, 32)                                           \
  NUMBER(stages, stages, Stages, 0, 1024)                                      \
  WORD(state, state, State, "registers", "shared")                             \
  NUMBER(splits, splits, Splits, 1, 65536)                                     \
  WORD(query, query, Query, "shared", "registers")                             \
  FLAG(pingpong, pingpong, Pingpong)                                           \
  NUMBER(producers, producers, Producers, 0, 4)                                \
  FLAG(persistent, persistent, Persistent)                                     \
  NUMBER(cluster, cluster, Cluster, 1, 2)                                      \
  NUMBER(polynomial, polynomial, Polynomial, 0, 65536)

struct Schedule {
#define FA_SCHEDULE_NUMBER(key, member, accessor, absent, most)                \
  int64_t member = absent;
#define FA_SCHEDULE_WORD(key, member, accessor, absent, other)                 \
  std::string member = absent;
#define FA_SCHEDULE_FLAG(key, member, accessor) bool member = false;
  FA_SCHEDULE_KEYS(FA_SCHEDULE_NUMBER, FA_SCHEDULE_WORD, FA_SCHEDULE_FLAG)
#undef FA_SCHEDULE_NUMBER
#undef FA_SCHEDULE_WORD
#undef FA_SCHEDULE_FLAG
};

/// Calls `visit` with the name and the value of each key, in their order.
template <typename Visitor>
void forEachKey(const Schedule &schedule, Visitor visit) {
#define FA_SCHEDULE_VISIT(key, member, ...) visit(#key, schedule.member);
  FA_SCHEDULE_KEYS(FA_SCHEDULE_VISIT, FA_SCHEDULE_VISIT, FA_SCHEDULE_VISIT)
#undef FA_SCHEDULE_VISIT
}

} // namespace farun

#endif // FA_SUPPORT_SCHEDULE_H
