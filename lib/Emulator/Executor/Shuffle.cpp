//===- Shuffle.cpp - warp-wide instructions -------------------------------===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// shfl, vote, match, redux, elect, activemask and bar.warp.sync: PTX ISA 9.1
// sections 9.7.9.6 and 9.7.13.2, 9 to 12. Each waits until the live lanes of
// its membermask have come to it. A lane that reads from one that is not there
// gets 0xBADBAD00, which the ISA leaves undefined.
//
//===----------------------------------------------------------------------===//
#include "Handlers.h"
#include "Machine.h"

#include <cstring>

using namespace ptxvm;

namespace {
constexpr uint32_t kUndefined = 0xBADBAD00;

const uint32_t *membermasks(const Warp &w, const Instruction &i) {
  return w.regs + w.lists[i.list];
}

/// Tells observers of membermasks that the ISA leaves undefined; the lanes of
/// w.mask agree on theirs.
void checkMasks(Warp &w, uint32_t members) {
  uint32_t outside = w.mask & ~members;
  if (!members)
    reportUndefined(w, UndefinedEvent::EmptyMask, w.mask);
  else if (outside)
    reportUndefined(w, UndefinedEvent::NotInOwnMask, outside, members);
}

/// Lanes of w.mask with the membermask of its lowest lane.
uint32_t alike(const Warp &w, const uint32_t *masks) {
  uint32_t first = masks[__builtin_ctz(w.mask)], same = 0;
  for (unsigned l = 0; l < 32; ++l)
    same |= uint32_t(masks[l] == first) << l;
  return same & w.mask;
}

/// The lanes of w.mask, which name `members`, have met: the instruction acts.
uint32_t metLanes(Warp &w, uint32_t members, bool isBarrier) {
  if (!w.cta->onUndefined.empty()) [[unlikely]]
    checkMasks(w, members);
  for (CTAObserver *o : w.cta->onBarrier)
    o->warpSynchronised(w.index, w.pc, w.mask, isBarrier);
  return members & w.mask;
}

/// What an instruction does once all of `members` are there.
using Act = void (*)(Warp &, const Instruction &, uint32_t members);

/// Lanes give several membermasks, as the tiles of a warp do: each set of lanes
/// with one mask meets and acts by itself, or waits. Lanes that name each other
/// and give different masks never meet on a GPU; that is reported.
Flow actByMask(Warp &w, const Instruction &i, bool isBarrier, Act act) {
  const uint32_t *masks = membermasks(w, i);
  uint32_t all = w.mask, waiting = 0;
  for (uint32_t rest = all; rest; rest &= ~w.mask) {
    w.mask = rest;
    w.mask = alike(w, masks);
    uint32_t members = masks[__builtin_ctz(w.mask)];
    uint32_t missing = members & w.live & ~w.mask;
    if (missing & all) {
      reportUndefined(w, UndefinedEvent::DifferentMasks, w.mask, members);
      missing &= ~all;
    }
    if (!missing) {
      act(w, i, metLanes(w, members, isBarrier));
      continue;
    }
    w.others.push_back(
        {Group::AtWarpSync, w.pc, w.mask, members, isBarrier, false});
    waiting |= w.mask;
  }
  w.mask = all;
  if (!waiting)
    return Flow::Next;
  w.group &= ~waiting;
  if (w.group)
    ++w.pc;
  return Flow::Block;
}

template <bool IsBarrier, Act act> Flow meet(Warp &w, const Instruction &i) {
  const uint32_t *masks = membermasks(w, i);
  uint32_t members = masks[__builtin_ctz(w.mask)];
  bool isReleased = w.released;
  w.released = false;
  bool isUniform = !std::memcmp(masks, masks + 1, 31 * sizeof(*masks));
  if (!isUniform && alike(w, masks) != w.mask) [[unlikely]]
    return actByMask(w, i, IsBarrier, act);
  if (!isReleased && (members & w.live & ~w.mask))
    return parkActive(w, Group::AtWarpSync, members, IsBarrier);
  act(w, i, metLanes(w, members, IsBarrier));
  return Flow::Next;
}

void writePredicate(Warp &w, uint32_t slot, uint32_t value) {
  w.preds[slot] = (w.preds[slot] & ~w.mask) | (value & w.mask);
}
template <typename F> void writeLanes(Warp &w, uint32_t slot, F value) {
  uint32_t out[32];
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    out[l] = value(l);
  }
  for (uint32_t m = w.mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    w.regs[slot + l] = out[l];
  }
}

/// The same word in all lanes.
bool isUniform(const uint32_t *x) { return !std::memcmp(x, x + 1, 31 * 4); }

/// The commonest shuffle, a butterfly over a whole warp; false, with nothing
/// done, for all others.
bool exchange(Warp &w, const Instruction &i) {
  const uint32_t *a = w.regs + i.a, *b = w.regs + i.b, *c = w.regs + i.c;
  bool isWhole = i.imm == 2 && (c[0] & 0x1F1F) == 31;
  if (!isWhole || !isUniform(b) || !isUniform(c))
    return false;
  uint32_t step = b[0] & 31, out[32];
  for (uint32_t l = 0; l < 32; ++l)
    out[l] = a[l ^ step];
  std::memcpy(w.regs + i.dst, out, sizeof(out));
  if (i.d != 2)
    w.preds[i.d] = ~0u;
  return true;
}

// maxLane = (l & seg) | (cval & ~seg), minLane = l & seg; up, down, bfly, idx.
void shuffle(Warp &w, const Instruction &i, uint32_t members) {
  if (members == ~0u && exchange(w, i)) [[likely]]
    return;
  uint32_t inRange = 0, absent = 0, absentLane = 0;
  const uint32_t *a = w.regs + i.a, *b = w.regs + i.b, *c = w.regs + i.c;
  uint32_t source[32];
  for (unsigned l = 0; l < 32; ++l) {
    int lane = int(l), step = int(b[l] & 31), seg = int(c[l] >> 8 & 31);
    int most = (lane & seg) | (int(c[l] & 31) & ~seg), least = lane & seg;
    int j = i.imm == 0   ? lane - step
            : i.imm == 1 ? lane + step
            : i.imm == 2 ? lane ^ step
                         : least | (step & ~seg);
    bool p = i.imm == 0 ? j >= most : j <= most;
    j = p ? j : lane;
    inRange |= uint32_t(p) << l;
    source[l] = members >> j & 1 ? a[j] : kUndefined;
    if (!(members >> j & 1) && (w.mask >> l & 1)) {
      absentLane = absent ? absentLane : uint32_t(j);
      absent |= 1u << l;
    }
  }
  if (absent)
    reportUndefined(w, UndefinedEvent::InactiveSource, absent, absentLane);
  writeLanes(w, i.dst, [&](unsigned l) { return source[l]; });
  if (i.d != 2)
    writePredicate(w, i.d, inRange);
}

void vote(Warp &w, const Instruction &i, uint32_t members) {
  uint32_t p = (w.preds[i.a] ^ (i.aux & 1 ? ~0u : 0)) & members;
  bool all = p == members, any = p != 0;
  if (i.imm == 3)
    writeLanes(w, i.dst, [&](unsigned) { return p; });
  else
    writePredicate(w, i.dst,
                   (i.imm == 0   ? all
                    : i.imm == 1 ? any
                                 : all || !any)
                       ? ~0u
                       : 0);
}

void match(Warp &w, const Instruction &i, uint32_t members) {
  auto value = [&](unsigned l) {
    return i.aux == 8 ? reinterpret_cast<const uint64_t *>(w.regs + i.a)[l]
                      : uint64_t(w.regs[i.a + l]);
  };
  uint32_t same[32] = {};
  bool isAll = true;
  for (unsigned l = 0; l < 32; ++l)
    for (uint32_t m = members; m; m &= m - 1) {
      unsigned k = unsigned(__builtin_ctz(m));
      if (value(k) == value(l))
        same[l] |= 1u << k;
      else if (members >> l & 1)
        isAll = false;
    }
  if (!i.imm) {
    writeLanes(w, i.dst, [&](unsigned l) { return same[l]; });
    return;
  }
  writeLanes(w, i.dst, [&](unsigned) { return isAll ? members : 0; });
  if (i.d != 2)
    writePredicate(w, i.d, isAll ? ~0u : 0);
}

void redux(Warp &w, const Instruction &i, uint32_t members) {
  bool isFirst = true;
  uint32_t r = 0;
  for (uint32_t m = members; m; m &= m - 1) {
    uint32_t x = w.regs[i.a + unsigned(__builtin_ctz(m))];
    bool less = i.aux ? int32_t(x) < int32_t(r) : x < r;
    if (isFirst)
      r = x;
    else
      switch (i.imm) {
      case 0:
        r += x;
        break;
      case 1:
        r = less ? x : r;
        break;
      case 2:
        r = less ? r : x;
        break;
      case 3:
        r &= x;
        break;
      case 4:
        r |= x;
        break;
      default:
        r ^= x;
      }
    isFirst = false;
  }
  writeLanes(w, i.dst, [&](unsigned) { return r; });
}

void elect(Warp &w, const Instruction &i, uint32_t members) {
  uint32_t leader = members ? uint32_t(__builtin_ctz(members)) : 0;
  writeLanes(w, i.dst, [&](unsigned) { return leader; });
  writePredicate(w, i.d, 1u << leader);
}

Flow activeMask(Warp &w, const Instruction &i) {
  uint32_t mask = w.mask;
  writeLanes(w, i.dst, [&](unsigned) { return mask; });
  return Flow::Next;
}

void warpBarrier(Warp &, const Instruction &, uint32_t) {}
} // namespace

void ptxvm::addShuffle(HandlerList &list) {
  static const NamedHandler kTable[] = {
      {"shfl", meet<false, shuffle>},        {"vote", meet<false, vote>},
      {"match", meet<false, match>},         {"redux", meet<false, redux>},
      {"elect", meet<false, elect>},         {"activemask", activeMask},
      {"bar_warp", meet<true, warpBarrier>},
  };
  list.insert(list.end(), std::begin(kTable), std::end(kTable));
}
