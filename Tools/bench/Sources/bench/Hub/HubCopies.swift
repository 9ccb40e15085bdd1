import Foundation
import Mooring

/// Measures how a store comes into a hub and to another machine, and reads of a store in a hub
/// beside those of a copy that is in none.
struct HubCopies {
  let site: HubSite
  let plan: HubPlan
  private static let machines = ["copies", "copies-2"]

  func run(into results: inout Measurements) async throws {
    reportProgress("hub: \(counted(plan.rows, "episodes")) for another machine")
    let workload = try Workload(rows: plan.rows, seed: 42)
    try await fill(Self.machines[0], workload)
    let alone = site.scratch.folder("alone")
    try FileManager.default.copyItem(at: site.folder(Self.machines[0]), to: alone)
    results.add(try site.createHub(Self.machines[0]), to: .hubCreate, of: .mooring)
    results.add(
      try site.join(Self.machines[1], to: Self.machines[0]), to: .hubJoin, of: .mooring)

    let copy = try site.open(alone, Store.Options())
    let first = try site.openInHub(Self.machines[0], follows: true)
    let second = try site.openInHub(Self.machines[1])
    try requireEqual(first, second)
    try requireEqual(copy, second)
    second.close()
    try measureReads(copy, first, workload, &results)
    copy.close()
    first.close()
  }

  private func fill(_ machine: String, _ workload: Workload) async throws {
    let store = try site.makeStore(machine)
    for rows in RowFeed(workload, chunk: 10_000) {
      let episodes = rows.episodes
      try await store.write { transaction in
        for episode in episodes { try transaction.insert(HomeFeed.Episode(episode, feedID: 1)) }
      }
    }
    store.close()
  }

  // MARK: Reads

  private func measureReads(
    _ alone: Store, _ inHub: Store, _ workload: Workload, _ results: inout Measurements
  ) throws {
    // The first reads of a store are slower.
    for store in [alone, inHub] {
      _ = try secondsOfGet(store, workload)
      _ = try secondsOfList(store)
    }
    for round in 1...(5 * plan.rounds) {
      // Each of the two is first in every other round.
      let stores = round.isMultiple(of: 2) ? [alone, inHub] : [inHub, alone]
      let gets = try stores.map { try secondsOfGet($0, workload) * 1e9 }
      let lists = try stores.map { try secondsOfList($0) * 1e6 }
      let (own, other) = round.isMultiple(of: 2) ? (1, 0) : (0, 1)
      results.add(gets[other], to: .getAlone, of: .mooring)
      results.add(gets[own], to: .getInHub, of: .mooring)
      results.add(gets[own] / gets[other], to: .getQuotient, of: .mooring)
      results.add(lists[other], to: .listAlone, of: .mooring)
      results.add(lists[own], to: .listInHub, of: .mooring)
      results.add(lists[own] / lists[other], to: .listQuotient, of: .mooring)
    }
  }

  private func secondsOfGet(_ store: Store, _ workload: Workload) throws -> Double {
    var random = SeededRandom(seed: 7)
    let ids = (0..<plan.reads).map { _ in
      workload.episode(Int.random(in: 0..<workload.count, using: &random)).id
    }
    let start = ContinuousClock.now
    for id in ids {
      guard try store.read({ try $0.get("Episode", by: ["id": .string(id), "feedID": 1]) }) != nil
      else { throw BenchError(.mismatch, "a store of the hub lacks \(id)") }
    }
    return (ContinuousClock.now - start).seconds / Double(ids.count)
  }

  private func secondsOfList(_ store: Store) throws -> Double {
    let content = try ContentStore(store)
    let count = max(10, plan.reads / 5)
    let start = ContinuousClock.now
    for _ in 0..<count {
      guard try content.loadRecentUpdates(count: 20).count == 20 else {
        throw BenchError(.mismatch, "a list of a store of the hub is too short")
      }
    }
    return (ContinuousClock.now - start).seconds / Double(count)
  }
}
