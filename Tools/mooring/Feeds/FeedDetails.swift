import Console
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HTTPClient

/// Everything known of one feed, and its last runs: what `mooring feed show` prints.
///
/// The keys of the JSON are stable; what is nil is left out.
struct FeedDetails: Encodable {
  private struct Run: Encodable {
    let startedAt: Date
    let seconds: Double?
    let outcome: String
    let counts: SyncReport?
    let error: String?
  }

  private let number: Int64
  private let url: String
  private let title: String?
  private let folder: [String]?
  private let categories: [String]?
  private let into: String
  private let format: String?
  private let state: String
  private let next: Date?
  private let why: String
  private let everySeconds: Int64?
  private let tokenFile: String?
  private let credential: String?
  private let passwordFile: String?
  private let passwordCredential: String?
  private let headerFile: String?
  private let headerCredential: String?
  private let sizeLimitBytes: Int64?
  private let timeLimitSeconds: Int64?
  private let addedAt: Date
  private let askedAt: Date?
  private let changedAt: Date?
  private let items: Int64
  private let etag: String?
  private let lastModified: String?
  private let validatorsAt: Date?
  private let validatorsOf: String?
  private let freshForSeconds: Int64?
  private let epoch: String?
  private let checkpoint: String?
  private let version: Int64?
  private let learnedURL: String?
  private let movedTo: String?
  private let movedCount: Int64?
  private let hasPublicAddress: Bool
  private let allowsPrivateAddress: Bool
  private let errors: Int64
  private let lastError: String?
  private let runs: [Run]

  init(_ id: Int64, _ feed: Feed, _ store: Store) throws {
    let feeds = Feeds(store)
    let circumstances = try feeds.circumstances(of: id, feed, now: store.now())
    let words = FeedWords(feed, try .ofWorker(), circumstances)
    number = id
    url = shownURL(feed.url)
    title = feed.shownTitle
    (folder, categories) = (feed.folder, feed.categories)
    into = feed.entity
    format = feed.format
    state = feed.state
    next = words.next?.at
    why = words.why
    everySeconds = feed.every
    (tokenFile, credential) = Self.sources(of: .bearer, feed)
    (passwordFile, passwordCredential) = Self.sources(of: .basic, feed)
    (headerFile, headerCredential) = Self.sources(of: .headers, feed)
    (sizeLimitBytes, timeLimitSeconds) = (feed.sizeLimit, feed.timeLimit)
    addedAt = feed.addedAt
    askedAt = circumstances.lastRun?.at
    changedAt = feed.changedAt
    items = feed.lastItems
    (etag, lastModified) = (feed.etag, feed.lastModified)
    validatorsAt = feed.validatorsAt
    validatorsOf = feed.validatorsURL.map(shownURL)
    freshForSeconds = feed.freshFor
    (epoch, checkpoint, version) = (feed.epoch, feed.checkpoint.map(shownURL), feed.version)
    learnedURL = feed.learnedURL.map(shownURL)
    movedTo = feed.movedTo.map(shownURL)
    movedCount = feed.movedTo == nil ? nil : feed.movedCount
    hasPublicAddress = feed.hasPublicAddress
    allowsPrivateAddress = feed.allowsPrivateAddress
    errors = feed.errors
    lastError = feed.lastError
    runs = try Self.runs(try feeds.runs(of: id), circumstances.lastRun)
  }

  private static func sources(
    of kind: FeedSecret.Kind, _ feed: Feed
  ) -> (file: String?, credential: String?) {
    switch feed.secrets.all.first(where: { $0.kind == kind })?.source {
    case .file(let path): (path, nil)
    case .credential(let name): (nil, name)
    case nil: (nil, nil)
    }
  }

  /// A run that found nothing new has written nothing: only the time of the last one is known.
  private static func runs(_ runs: [FeedRun], _ last: LastRun?) throws -> [Run] {
    var rows = try runs.map { run in
      Run(
        startedAt: run.startedAt, seconds: run.seconds, outcome: run.outcome,
        counts: try run.report, error: run.error)
    }
    if let last, last.at.timeIntervalSince(runs.first?.startedAt ?? .distantPast) > 0.01 {
      let outcome = last.hasEnded ? SyncReport.Outcome.notModified.rawValue : "unfinished"
      rows.insert(
        Run(startedAt: last.at, seconds: nil, outcome: outcome, counts: nil, error: nil), at: 0)
    }
    return rows
  }

  func write(_ format: OutputFormat) throws {
    try format.write(self) { output in
      try output.write(TextTable(facts: facts))
      if runs.isEmpty { return }
      try output.write("\n")
      try output.write(table)
    }
  }

  private var facts: [(String, String?)] {
    func time(_ date: Date?) -> String? { date.map { Value.date($0).text } }
    func span(_ seconds: Int64?) -> String? {
      seconds.map { Formatting.duration(.seconds($0)) }
    }
    return [
      ("number", String(number)), ("url", url), ("learned url", learnedURL), ("title", title),
      ("folder", folder?.joined(separator: " / ")),
      ("categories", categories?.joined(separator: ", ")),
      ("into", into), ("format", self.format),
      ("state", Feed.stateText(state, lastError)),
      ("next", "\(time(next) ?? "never"): \(why)"), ("every", span(everySeconds)),
      ("token file", tokenFile), ("credential", credential), ("password file", passwordFile),
      ("password credential", passwordCredential), ("header file", headerFile),
      ("header credential", headerCredential),
      ("size limit", sizeLimitBytes.map { sizeText(Int($0)) }),
      ("time limit", span(timeLimitSeconds)),
      ("added", time(addedAt)),
      ("asked", time(askedAt)), ("changed", time(changedAt)), ("items", Formatting.count(items)),
      ("etag", etag), ("last-modified", lastModified), ("validators of", validatorsOf),
      ("validators at", time(validatorsAt)), ("fresh for", span(freshForSeconds)),
      ("epoch", epoch), ("checkpoint", checkpoint), ("version", version.map(String.init)),
      ("moves to", movedTo.map { "\($0) (seen \(Formatting.count(movedCount ?? 0)) times)" }),
      (
        "addresses",
        allowsPrivateAddress
          ? "public or private, as allowed" : hasPublicAddress ? "public only, as before" : nil
      ),
      ("errors", errors > 0 ? "\(Formatting.count(errors)) in a row" : nil),
      ("last error", lastError), ("document", warnings.isEmpty ? nil : warnings),
      ("remark", lastCounts?.firstRemark),
    ]
  }

  /// The deviations of the last documents.
  private var warnings: String {
    (lastCounts?.warnings ?? []).joined(separator: "; ")
  }

  /// The counts of the last run that has read a document.
  private var lastCounts: SyncReport? {
    runs.lazy.compactMap(\.counts).first { $0.pages > 0 }
  }

  private var table: TextTable {
    let numbers = [
      "new", "changed", "unchanged", "deleted", "duplicates", "rejected", "salvaged", "pages",
      "requests", "bytes", "took",
    ]
    var table = TextTable(
      [.init("run"), .init("outcome")] + numbers.map { .init($0, .number) } + [.init("error")])
    for run in runs {
      let counts = run.counts
      let cells = [
        counts?.new, counts?.changed, counts?.unchanged, counts?.deleted, counts?.duplicates,
        counts?.rejected, counts?.salvagedItems, counts?.pages, counts?.requests,
      ].map { $0.map { Formatting.count(Int64($0)) } ?? "" }
      let bytes = counts.map { Formatting.bytes(Int64($0.bytes)) } ?? ""
      let took = run.seconds.map { Formatting.duration(.seconds($0)) } ?? ""
      table.append(
        [Value.date(run.startedAt).text, run.outcome] + cells + [bytes, took, run.error ?? ""])
    }
    return table
  }
}
