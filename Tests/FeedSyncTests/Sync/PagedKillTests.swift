import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HomeFeed
import LoopbackHTTP
import SystemSupport
import TestSupport
import Testing

@testable import FeedSync

/// Runs of paged feeds are killed at random moments and started again: in the end the store equals
/// that of an uninterrupted run.
@Suite(.serialized) struct PagedKillTests {
  @Test func aMappedAPIThatIsKilledRepeatedlyEndsLikeAnUninterruptedOne() async throws {
    try await killAgainAndAgain(.mappedAPI, seed: 81)
  }

  @Test func anArchivedFeedThatIsKilledRepeatedlyEndsLikeAnUninterruptedOne() async throws {
    try await killAgainAndAgain(.archivedRSS, seed: 82)
  }

  private func killAgainAndAgain(_ publisher: PagedPublisher, seed: UInt64) async throws {
    let kills = isThorough ? 200 : 6
    var random = SeededRandom(seed: testSeed(seed))
    let bench = try KillBench(publisher)
    defer { bench.server.stop() }
    let whole = try await bench.runUndisturbed()
    var killed = 0
    while killed < kills {
      killed += try await bench.runKilled(&random, killsMax: kills - killed, as: whole)
    }
    print("\(killed) kills, seed \(random.seed)")
  }
}

/// A server of a publisher's stages, and stores that take its feed.
private struct KillBench {
  /// The content of a store after an uninterrupted stage, and the requests that it took.
  struct Ending {
    var state: [String]
    /// The targets of the run that brings the news, then those of one that finds none.
    var targets: [String]
    var targetsAgain: [String]
  }

  let server: KillingServer
  private let publisher: PagedPublisher
  private let stage: Stage
  private var url: String { server.url + publisher.path }

  private final class Stage: Sendable {
    let number = Locked(0)
  }

  init(_ publisher: PagedPublisher) throws {
    let stage = Stage()
    (self.publisher, self.stage) = (publisher, stage)
    server = try KillingServer { publisher.answer($0, in: stage.number.withLock { $0 }) }
  }

  func runUndisturbed() async throws -> [Ending] {
    try await withStore { store in
      var endings: [Ending] = []
      for number in publisher.stages.indices {
        stage.number.withLock { $0 = number }
        _ = server.takeRequests()
        try #require(try await server.sync(url, in: store.folder) != nil)
        let targets = server.takeRequests().map(\.target)
        let targetsAgain = try await runAgain(store)
        endings.append(
          Ending(state: try state(of: store), targets: targets, targetsAgain: targetsAgain))
        #expect(targets.count >= 4)
        if number == 0 { try await mark(in: store) }
      }
      return endings
    }
  }

  /// - Returns: How often a run was killed.
  func runKilled(
    _ random: inout SeededRandom, killsMax: Int, as whole: [Ending]
  ) async throws -> Int {
    var after = random
    var kills = 0
    try await withStore { store in
      for (number, ending) in whole.enumerated() {
        stage.number.withLock { $0 = number }
        let killsUntil = min(killsMax, kills + 5)
        var isEnded = false
        while !isEnded, kills < killsUntil {
          isEnded = try await runOnce(store, ending, Self.plan(&after))
          if !isEnded { kills += 1 }
          try check(store, ending, publisher.stages[number])
        }
        if !isEnded { try #require(try await runOnce(store, ending, .init())) }
        #expect(try await runAgain(store) == ending.targetsAgain)
        #expect(try state(of: store) == ending.state, "seed \(after.seed), stage \(number)")
        if number == 0 { try await mark(in: store) }
      }
      #expect(try store.records(of: "_ChunkedWrite").isEmpty)
      #expect(try store.records(of: "_SyncPage").isEmpty)
    }
    random = after
    return kills
  }

  private static func plan(_ random: inout SeededRandom) -> KillingServer.Plan {
    .init(
      request: random.number(1...7), wantsAnswer: random.oneIn(2),
      delay: UInt32(random.number(0...40_000)))
  }

  /// Expects that the run requests no stored page, and no page twice.
  ///
  /// - Returns: True if it completed.
  private func runOnce(
    _ store: Store, _ ending: Ending, _ plan: KillingServer.Plan
  ) async throws -> Bool {
    let (_, feed, checkpoint) = try stored(in: store)
    let isDone = try state(of: store) == ending.state
    let start = checkpoint?.next ?? feed.checkpoint ?? feed.requestURL
    _ = server.takeRequests()
    let line = try await server.sync(url, in: store.folder, plan)
    let targets = server.takeRequests().map(\.target)
    let needed = isDone ? ending.targetsAgain : ending.targets
    let first = try #require(
      needed.firstIndex { server.url + $0 == start }, "\(start) is not in \(needed)")
    #expect(needed[first...].starts(with: targets), "\(targets), but needed \(needed[first...])")
    #expect(line == nil || targets.count == needed.count - first)
    return line != nil
  }

  /// Nothing may be concluded from an answer before all that it lists is stored.
  private func check(_ store: Store, _ ending: Ending, _ stage: PagedPublisher.Stage) throws {
    try requireClean(store)
    try requireWholePages(store)
    let (_, feed, checkpoint) = try stored(in: store)
    guard feed.etag == stage.etag else { return }
    #expect(checkpoint == nil)
    #expect(try state(of: store) == ending.state, "the validator came before the data")
  }

  /// A run that finds nothing new, and writes nothing but that.
  private func runAgain(_ store: Store) async throws -> [String] {
    let trees = try ContentTrees(store)
    _ = server.takeRequests()
    try #require(try await server.sync(url, in: store.folder) != nil)
    #expect(try ContentTrees(store) == trees)
    return server.takeRequests().map(\.target)
  }

  private func mark(in store: Store) async throws {
    let feedID = try stored(in: store).id
    let marked = publisher.marked
    try await store.write { transaction in
      for id in marked {
        let found = try transaction.objectID(
          "Episode", by: ["id": .string(id), "feedID": .int64(feedID)])
        try transaction.update(Episode.self, try #require(found)) {
          $0.favoriteAt = Date(timeIntervalSince1970: 1)
        }
      }
    }
  }

  private func stored(in store: Store) throws -> (
    id: Int64, feed: Feed, checkpoint: SyncCheckpoint?
  ) {
    let (id, feed) = try Feeds(store).find(url)
    let saved = Checkpoint<SyncCheckpoint>(name: "sync \(id)")
    return (id, feed, try store.read { try saved.load(in: $0)?.position })
  }

  /// All that a run decides, but not when it did.
  private func state(of store: Store) throws -> [String] {
    let feed = try stored(in: store).feed
    let tombstones = try store.fetch(FetchRequest(entityName: "_Tombstone")).map { record in
      "\(try record["itemID"]) \(try record["deletedAt"]) \(try record["local"])"
    }
    return try store.contentDump() + tombstones.sorted() + [
      "\(feed.checkpoint ?? "-") \(feed.identity ?? "-") \(feed.title ?? "-") \(feed.lastItems)"
    ]
  }

  private func withStore<R>(_ body: (Store) async throws -> R) async throws -> R {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [.homeFeed, .feeds])
      try await Feeds(store).add(
        url, .init(mapping: publisher.mapping.map { FeedMappingText($0, file: "paged.yaml") }))
      return try await body(store)
    }
  }
}
