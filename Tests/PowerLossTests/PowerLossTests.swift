import TestSupport
import Testing

/// The power is lost at any moment of some work, in processes whose writes and flushes are
/// recorded: each store opens and is undamaged, and nothing that was acknowledged is lost.
@Suite(.timeLimit(.minutes(30))) struct PowerLossTests {
  /// The number of images of a kind of work: 300 in all, or 2,000. Most commits of a store are not
  /// its first ones, so the creation gets twice as many.
  private static func images(of work: Work) -> Int {
    let share = (isThorough ? 2_000 : 300) / (Work.allCases.count + 1) + 1
    return work == .creation ? 2 * share : share
  }

  @Test(arguments: Work.allCases)
  func everyImageIsUndamagedAndHasAllThatWasAcknowledged(work: Work) async throws {
    let seed = testSeed(19)
    try await withPowerLoss(of: work) { loss in
      let cuts = (0..<Self.images(of: work)).map { loss.cut($0, seed: seed) }
      let failures = try await loss.failures(of: cuts, keepsImage: true)
      print("\(work): \(cuts.count) images of \(loss.events) events, seed \(seed)")
      for failure in failures.prefix(3) {
        Issue.record(
          """
          MOORING_SEED=\(seed), \(work), image \(failure.index), one of \(failures.count): \(failure)
          """)
      }
    }
  }

  /// The checks find what is lost. What a store of a hub loses is in the log of the hub.
  @Test(arguments: Work.allCases.filter { $0 != .hub })
  func aDiskThatIgnoresFlushesLosesWhatWasAcknowledged(work: Work) async throws {
    try await withPowerLoss(of: work) { loss in
      let disk = loss.withoutFlushes
      let failures = try await disk.failures(of: [disk.end], keepsImage: false)
      #expect(failures.count == 1)
    }
  }

  @Test func aStoreThatDoesNotFlushLosesAcknowledgedWritesInSomeImage() async throws {
    let seed = testSeed(20)
    try await withPowerLoss(of: .set, flushes: false) { loss in
      let cuts = (0..<20).map { loss.cut($0, seed: seed) }
      let failures = try await loss.failures(of: cuts, keepsImage: false)
      #expect(failures.contains { $0.description.contains("rows") }, "seed \(seed)")
    }
  }

  /// The log has the commits of a hub, but the pages of a store must be those of one commit.
  @Test func aStoreOfAHubThatDoesNotFlushIsDamagedInSomeImage() async throws {
    let seed = testSeed(21)
    try await withPowerLoss(of: .hub, flushes: false) { loss in
      let cuts = (0..<20).map { loss.cut($0, seed: seed) }
      let failures = try await loss.failures(of: cuts, keepsImage: false)
      #expect(!failures.isEmpty, "seed \(seed)")
    }
  }

  private func withPowerLoss(
    of work: Work, flushes: Bool = true, _ body: (PowerLoss) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      guard let loss = try await PowerLoss(of: work, in: folder, flushes: flushes) else {
        print("there is no C compiler: not tested")
        return
      }
      try await body(loss)
    }
  }
}
