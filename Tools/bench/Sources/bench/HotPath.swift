import ArgumentParser
import CEpisodes
@_spi(Measurement) import DurableJobs
import Foundation
import Mooring

/// Runs one hot path of Mooring a given number of times under an instruction counter. The script
/// `instructions` calls it.
struct HotPath: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hot-path", abstract: "Runs one hot path repeatedly.", shouldDisplay: false)

  enum Path: String, CaseIterable, ExpressibleByArgument {
    case get, list, path, thousand, cards, inplace, scan, sum, upsert, batch, delete, syncpage
    case tiny, job, enqueue, claim, finish

    /// The largest number of repetitions: what a repetition needs exists before the first one.
    fileprivate var timesMax: Int {
      switch self {
      case .upsert: 256
      case .delete: 40
      case .syncpage: 8
      case .enqueue, .claim, .finish: 64
      default: .max
      }
    }
  }

  @Argument var path: Path
  @Argument var times: Int

  func validate() throws {
    guard (0...path.timesMax).contains(times) else {
      throw ValidationError("times must be at least 0, and for \(path) at most \(path.timesMax)")
    }
  }

  func run() throws { try blocking { try await measure() } }

  private func measure() async throws {
    let scratch = try ScratchFolder(
      in: [FileManager.default.temporaryDirectory], needing: 100_000_000)
    defer { scratch.remove() }
    switch path {
    case .syncpage: return try await syncPages(scratch)
    case .job, .enqueue, .claim, .finish: return try await turnJobs(scratch)
    default: break
    }
    let workload = try Workload(rows: 10_000, seed: 42)
    let store = MooringCandidate()
    try store.open(in: scratch.emptyFolder("store"))
    try await store.bulkLoad(RowFeed(workload, chunk: 10_000))
    // The number of pages does not depend on `times`, so that their instructions cancel out when
    // two counts are subtracted.
    let pages = try (0..<(path == .upsert ? path.timesMax : 0)).map { _ in
      try workload.nextPage(.hot, rows: 100)
    }
    let dates = workload.withAllRows { $0.map(\.updated_at).sorted() }
    for time in 0..<times {
      switch path {
      case .get: _ = try store.touchEpisode(id: "ep:\(time * 7919 % workload.count)")
      case .list: _ = try store.touchEpisodes(.recent, limit: 20)
      case .path:
        let path = "lp:\(time * 7 % workload.pathCount)"
        _ = try store.touchEpisodes(.learningPath(path), limit: 20)
      case .thousand: _ = try store.touchEpisodes(.recent, limit: 1_000)
      case .cards: _ = try store.touchCards(.recent, limit: 20)
      case .inplace: _ = try store.touchCardsInPlace(.recent, limit: 20)
      case .scan: _ = try store.count(ScanFilter(durationAtLeast: 1_800, progressAbove: 0.5))
      case .sum: _ = try store.sumOfDurations()
      case .upsert: try await store.upsert(pages[time])
      case .batch:
        _ = try await store.setProgress(
          ofType: 3, to: Double(time + 1) / 1_000, chunkDuration: unlimited)
      case .delete:
        let deleted = try await store.delete(
          updatedBefore: dates[(time + 1) * rowsPerBatch], chunkDuration: unlimited)
        guard deleted == rowsPerBatch else {
          throw BenchError(.mismatch, "\(deleted) rows deleted instead of \(rowsPerBatch)")
        }
      case .tiny:
        let row = time * 7919 % workload.count
        let change = ProgressChange(id: "ep:\(row)", progress: Double(time + 1) / 1_000)
        try await store.setProgress([change], by: .thread)
      case .syncpage, .job, .enqueue, .claim, .finish: break
      }
    }
    try store.close()
  }

  /// Chunks that end by the clock would make the count depend on the machine.
  private var unlimited: Duration { .seconds(3_600) }
  private var rowsPerBatch: Int { 200 }

  /// Enqueues one job or 100, or claims or finishes 128, in each of `times` commits.
  private func turnJobs(_ scratch: ScratchFolder) async throws {
    let queue = MooringJobs()
    let folder = try scratch.emptyFolder("jobs")
    try await queue.open(in: folder)
    if path == .job { return try await queue.enqueue(times, perCommit: 1, by: .thread) }
    if path == .enqueue {
      return try await queue.enqueue(times * 100, perCommit: 100, by: .thread)
    }
    let batch = 128
    let jobs = path.timesMax * batch
    try await queue.enqueue(jobs, perCommit: 1_000, by: .thread)
    try await queue.close()
    let turns = JobTurns(try Store.openForJobs(in: folder))
    var claimed: [JobTurns.Claimed] = []
    for _ in 0..<(path == .claim ? times : path.timesMax) {
      claimed += try turns.claim(batch, of: [BenchJob.kind])
    }
    guard path == .finish else { return }
    for time in 0..<times {
      let jobs = Array(claimed[(time * batch)..<((time + 1) * batch)])
      guard try turns.finish(jobs) == batch else {
        throw BenchError(.mismatch, "a job was finished by another claim")
      }
    }
  }

  /// Syncs a feed of `times` pages with 1,000 new items each, from memory. A page is a commit.
  private func syncPages(_ scratch: ScratchFolder) async throws {
    let rows = path.timesMax * 1_000
    let episodes = try Workload(rows: rows, seed: 42).rows(0..<rows).episodes
    let pages = FeedPages(episodes: episodes.map(\.inWholeSeconds), rowsPerPage: 1_000)
    let transport = PageTransport(pages, count: times)
    let candidate = MooringSync(commitDuration: .zero) { transport }
    try await candidate.open(
      in: scratch.emptyFolder("store"), feed: PageTransport.origin + FeedPages.path)
    if times > 0 {
      let outcome = try await candidate.sync(SyncTurn())
      guard case .synced(rows: times * 1_000, _) = outcome else {
        throw BenchError(.mismatch, "\(outcome) instead of \(times) pages")
      }
    }
    try candidate.close()
  }
}

/// The first pages of a feed, in memory.
private struct PageTransport: HTTPTransport {
  static let origin = "http://127.0.0.1"

  private let pages: [String: PaddedBytes]

  /// Creates the bytes of all pages, so that this takes the same time for any count.
  init(_ pages: FeedPages, count: Int) {
    let last = max(0, count - 1)
    let bodies = (0..<pages.count).map {
      (Self.origin + pages.target($0), PaddedBytes(pages.body($0, isLast: $0 == last)))
    }
    self.pages = Dictionary(uniqueKeysWithValues: bodies)
  }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let body = pages[request.url] else { throw BenchError(.candidate, request.url) }
    return HTTPResponse(
      status: 200, headers: [("Content-Type", "application/vnd.homefeed+json;version=1")],
      body: body, effectiveURL: request.url, isFromPrivateAddress: true)
  }
}
