import ArgumentParser
import Foundation

/// Runs one hot path of Mooring a given number of times under an instruction counter. The script
/// `instructions` calls it.
struct HotPath: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hot-path", abstract: "Runs one hot path repeatedly.", shouldDisplay: false)

  enum Path: String, CaseIterable, ExpressibleByArgument {
    case get, list, cards, scan, sum, upsert, batch
  }

  @Argument var path: Path
  @Argument var times: Int

  func validate() throws {
    guard times >= 0, path != .upsert || times <= pageCount else {
      throw ValidationError("times must be at least 0, and for upsert at most \(pageCount)")
    }
  }

  func run() throws { try blocking { try await measure() } }

  private var pageCount: Int { 256 }

  private func measure() async throws {
    let scratch = try ScratchFolder(
      in: FileManager.default.temporaryDirectory, needing: 100_000_000)
    defer { scratch.remove() }
    let workload = try Workload(rows: 10_000, seed: 42)
    let store = MooringCandidate()
    try store.open(in: scratch.emptyFolder("store"))
    try await store.bulkLoad(RowFeed(workload, chunk: 10_000))
    // The number of pages does not depend on `times`, so that their instructions cancel out when
    // two counts are subtracted.
    let pages = try (0..<(path == .upsert ? pageCount : 0)).map { _ in
      try workload.nextPage(.hot, rows: 100)
    }
    for time in 0..<times {
      switch path {
      case .get: _ = try store.touchEpisode(id: "ep:\(time * 7919 % workload.count)")
      case .list: _ = try store.touchEpisodes(.recent, limit: 20)
      case .cards: _ = try store.touchCards(.recent, limit: 20)
      case .scan: _ = try store.count(ScanFilter(durationAtLeast: 1_800, progressAbove: 0.5))
      case .sum: _ = try store.sumOfDurations()
      case .upsert: try await store.upsert(pages[time])
      case .batch:
        // Chunks that end by the clock would make the count depend on the machine.
        _ = try await store.setProgress(
          ofType: 3, to: Double(time + 1) / 1_000, chunkDuration: .seconds(3_600))
      }
    }
    try store.close()
  }
}
