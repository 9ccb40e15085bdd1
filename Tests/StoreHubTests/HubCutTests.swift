import EntityModel
import EntityStore
import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import StoreHub

/// The links between machines and their hub break at any byte.
@Suite(
  .serialized, .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"),
  .timeLimit(.minutes(30)))
struct HubCutTests {
  @Test func cutLinksLoseNothingAndRepeatNothing() async throws {
    let cuts = isThorough ? 100 : 12
    var random = SeededRandom(seed: testSeed(85))
    try await withHub { hub in
      try await hub.create()
      _ = try hub.join("second")
      let proxies = try (0..<2).map { _ in try CuttingProxy(HubServer.shared()) }
      defer { for proxy in proxies { proxy.stop() } }
      let stores = try zip(["first", "second"], proxies).map {
        try hub.open($0, through: $1.connectionText)
      }
      let writers = stores.enumerated().map { Writer(name: "m\($0)", store: $1) }
      let tasks = writers.map { writer in Task { await writer.run() } }
      for _ in 0..<cuts {
        let place = random.number(0...1)
        // A commit of one record sends some hundred bytes each way.
        proxies[place].cutOnce(
          random.oneIn(2) ? .fromClient : .fromServer, afterMore: random.number(0...1_500))
        await proxies[place].waitForCut()
        await writers[place].waitForMore(2)
      }
      for writer in writers { await writer.waitForMore(1) }
      for writer in writers { writer.stop() }
      for task in tasks { await task.value }
      let total = proxies.map(\.cuts).reduce(0, +)
      #expect(total == cuts)
      try requireSame(stores)
      try requireOnce(writers, in: stores[0])
      print("\(total) cuts, seed \(random.seed): \(writers.map(\.summary))")
    }
  }
}
