//===- ClusterState.h - what the CTAs of a cluster share --------*- C++ -*-===//
//
// Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA's observer is told what its threads do to the memory of other CTAs of
// the cluster. So the state of a checker that follows shared memory belongs to
// the cluster, whose CTAs run on one host thread, and the observers of its CTAs
// hold it together. Without clusters a CTA is a cluster of its own.
//
//===----------------------------------------------------------------------===//
#ifndef FA_LIB_EMULATOR_CHECKERS_CLUSTERSTATE_H
#define FA_LIB_EMULATOR_CHECKERS_CLUSTERSTATE_H

#include "fa/Emulator/ExecutionObserver.h"

#include <map>
#include <memory>

namespace ptxvm {

template <typename State> class ClusterStates {
public:
  /// The state of the event's cluster, made by its first CTA, of the event and
  /// what follows it. To be called from ctaBegin.
  template <typename... Rest>
  std::shared_ptr<State> of(const CTAEvent &event, const Rest &...rest) {
    if (event.clusterSize <= 1)
      return std::make_shared<State>(event, rest...);
    std::weak_ptr<State> &known = byCluster[event.cluster];
    std::shared_ptr<State> state = known.lock();
    if (!state)
      known = state = std::make_shared<State>(event, rest...);
    return state;
  }
  void clear() { byCluster.clear(); }

private:
  std::map<uint64_t, std::weak_ptr<State>> byCluster;
};

} // namespace ptxvm

#endif // FA_LIB_EMULATOR_CHECKERS_CLUSTERSTATE_H
