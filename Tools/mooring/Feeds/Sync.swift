import ArgumentParser
import Console
import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import StoreJobs
import Synchronization
import WorkerService

struct Sync: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Syncs all feeds, or the ones named.",
    discussion: """
      A URL that is not a feed yet is added. After Ctrl-C or a kill everything that was committed \
      stays, and the next run continues from there. A feed whose last response is still fresh \
      according to its server is not requested.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "Feeds by URL or by number (see `mooring feed list`).") var feeds: [String] = []
  @Flag(help: "Fetch the full listing, even if a delta would suffice or nothing is due.")
  var full = false
  @Flag(help: "Wait while another process syncs the feed.") var wait = false
  @Flag(help: "Delete records even if most of the feed would be deleted.") var allowDeletions =
    false
  @Flag(help: "Request even if the server asked to wait or its last response is fresh.")
  var now = false
  @Flag(help: "Print each request on standard error.") var verbose = false
  @Flag(help: "Send no requests; print which feeds are due, when the others are, and why.")
  var explain = false
  @Option(
    help: ArgumentHelp(
      "Where publishers reach you; sent with each request. Default: the setting `contact`.",
      valueName: "url"))
  var contact: String?
  @OptionGroup var job: DetachOptions
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func validate() throws {
    try job.refuse(
      ["--wait": wait, "--verbose": verbose, "--explain": explain, "--contact": contact != nil])
    if job.detach { try format.require(.table, .jsonl) }
    if explain {
      for (flag, isThere) in [
        ("--now", now), ("--full", full), ("--allow-deletions", allowDeletions), ("--wait", wait),
        ("--verbose", verbose), ("--contact", contact != nil),
      ] where isThere {
        throw ValidationError("\(flag) does not go with --explain, which sends no requests")
      }
    }
    if let contact, !UserAgent.isContact(contact) {
      throw ValidationError(
        "--contact takes a URL such as https://example.org/about or mailto:me@example.org")
    }
  }

  func run() async throws {
    if explain {
      let store = try options.openToRead()
      return try SyncPreview(store, naming: feeds).write(format)
    }
    let store = try options.openOrCreate()
    let chosen = try await choose(in: Feeds(store))
    if job.detach { return try await detach(chosen, in: store) }
    let settings = try WorkerSettings.load(environment: ProcessInfo.processInfo.environment)
      .settings
    let transport = try CurlTransport(configuration: transportOptions(settings))
    let engine = SyncEngine(
      store: store, transport: transport, hostSpacing: { settings.hostSpacing })
    let command = LongCommand(isQuiet: options.quiet || verbose)
    let syncs = FeedSyncs(engine: engine, options: engineOptions, waits: wait, command: command)
    do {
      try await command.run(
        afterInterrupt: "what was committed stays, and the next sync continues from there"
      ) { try await syncs.run(chosen) }
    } catch {
      let reports = syncs.results.withLock { $0.reports }
      if !reports.isEmpty { try SyncOutput(format: format).write(reports) }
      throw error
    }
    let (reports, failure) = syncs.results.withLock { ($0.reports, $0.failure) }
    // The exit status is that of the work, even if nothing reads the reports.
    let written = Result { try SyncOutput(format: format).write(reports) }
    for report in reports { warn(report) }
    if let failure, chosen.count == 1 { throw failure }
    if let failure { throw (failure as? any ExitStatusProviding)?.exitStatus.exitCode ?? failure }
    if reports.contains(where: { $0.outcome == .deletionsRefused || $0.outcome == .incomplete }) {
      throw ExitStatus.badData.exitCode
    }
    try written.get()
  }

  private func transportOptions(_ settings: WorkerSettings) -> CurlTransport.Configuration {
    var configuration = CurlTransport.Configuration()
    configuration.userAgent = UserAgent.text(contact: contact ?? settings.contact)
    if verbose { configuration.onExchange = { Message.say($0.line) } }
    return configuration
  }

  /// One job for each feed.
  private func detach(_ chosen: [(id: Int64, feed: Feed)], in store: Store) async throws {
    let queue = JobQueue(store)
    for (id, feed) in chosen {
      let sync = SyncFeed(
        feed: id, isFull: full, allowsDeletions: allowDeletions, ignoresWait: now,
        host: feed.host)
      try JobEnqueued(try await queue.enqueue(JobRequest(sync))).write(format)
    }
    if options.quiet { return }
    Message.say("follow them with `mooring jobs list --kind \(SyncFeed.kind)`")
    try options.warnIfNobodyRuns(SyncFeed.kind.rawValue, in: queue)
  }

  private func choose(in feeds: Feeds) async throws -> [(id: Int64, feed: Feed)] {
    if self.feeds.isEmpty {
      let active = try feeds.list().filter { !$0.feed.isPaused }
      if active.isEmpty {
        Message.say("there are no feeds; add one with `mooring feed add URL`")
        throw ExitStatus.unavailable.exitCode
      }
      return active
    }
    var chosen: [(id: Int64, feed: Feed)] = []
    for name in self.feeds {
      if name.contains("://"), try feeds.feed(named: name) == nil {
        try await feeds.add(name)
        if !options.quiet { Message.say("added the feed \(shownURL(name))") }
      }
      chosen.append(try feeds.find(name))
    }
    return chosen
  }

  private var engineOptions: SyncEngine.Options {
    var settings = SyncEngine.Options()
    settings.isFull = full
    settings.allowsDeletions = allowDeletions
    settings.ignoresWait = now
    return settings
  }

  private func warn(_ report: SyncReport) {
    if options.quiet { return }
    for rejection in report.rejections {
      Message.say("\(rejection.id ?? "an item"): \(rejection.reason)")
    }
    let noted = report.rejected + report.dropped - report.rejections.count
    if noted > 0 { Message.say("and \(Formatting.count(Int64(noted))) more") }
    if report.salvagedItems > 0 {
      Message.say(
        "\(report.feed): the document is ill-formed; "
          + "\(Formatting.count(Int64(report.salvagedItems))) of its items were read nevertheless; "
          + "report it to the publisher")
    }
    switch report.outcome {
    case .deletionsRefused:
      Message.say(
        "\(report.feed): \(Formatting.count(Int64(report.refusedDeletions))) records are no "
          + "longer in the feed; that is more than half, so none was deleted. To delete them, run "
          + "`mooring sync --full --allow-deletions`")
    case .incomplete:
      Message.say(
        "\(report.feed): the listing was incomplete, so nothing was deleted; the next run "
          + "reads all of it again")
    case .fresh:
      Message.say(
        "\(report.feed): the last response is still fresh, so no request was sent; add --now")
    case .synced, .notModified: break
    }
  }
}

/// The runs of several feeds, one after the other.
private final class FeedSyncs: Sendable {
  struct Results {
    /// The reports of the runs that succeeded.
    var reports: [SyncReport] = []
    /// The first failure.
    var failure: (any Error)?
  }

  let engine: SyncEngine
  let options: SyncEngine.Options
  /// True to wait for another process that syncs the feed.
  let waits: Bool
  let command: LongCommand
  let results = Mutex(Results())

  init(
    engine: SyncEngine, options: SyncEngine.Options, waits: Bool, command: LongCommand
  ) {
    self.engine = engine
    self.options = options
    self.waits = waits
    self.command = command
  }

  /// - Throws: What ended a run after an interrupt; the results of the runs before stay.
  func run(_ feeds: [(id: Int64, feed: Feed)]) async throws {
    for (id, feed) in feeds {
      do {
        let report = try await sync(id, feed)
        results.withLock { $0.reports.append(report) }
      } catch {
        if command.isInterrupted { throw error }
        // One feed's failure does not keep the others from being synced.
        if feeds.count > 1 { Message.say("\(shownURL(feed.url)): \(error)") }
        results.withLock { $0.failure = $0.failure ?? error }
      }
    }
  }

  private func sync(_ id: Int64, _ feed: Feed) async throws -> SyncReport {
    defer { command.finish() }
    while true {
      try command.checkInterrupt()
      do {
        return try await engine.sync(id, options: options) { report in
          command.report(shownURL(feed.url), done: Int64(report.items))
        }
      } catch let error as SyncError where error.code == .busy && waits {
        try await Task.sleep(for: .milliseconds(500))
      }
    }
  }
}

/// The counts of runs.
struct SyncOutput {
  let format: OutputFormat

  func write(_ reports: [SyncReport]) throws {
    try StandardOutput.with { output in
      try output.write(
        reports, as: format, table: reports.isEmpty ? nil : table(reports), titles: titles
      ) { cells($0) }
    }
  }

  private var titles: [String] {
    [
      "feed", "outcome", "new", "changed", "unchanged", "deleted", "skipped", "rejected", "pages",
      "requests", "bytes",
    ]
  }

  private func cells(_ report: SyncReport) -> [String] {
    [report.feed, outcome(report)] + numbers(report).map(String.init)
  }

  private func numbers(_ report: SyncReport) -> [Int] {
    [
      report.new, report.changed, report.unchanged, report.deleted, report.skipped,
      report.rejected + report.unknownKinds, report.pages, report.requests, report.bytes,
    ]
  }

  private func outcome(_ report: SyncReport) -> String {
    switch report.outcome {
    case .synced: report.isResumed ? "\(report.mode), resumed" : report.mode
    case .notModified: "not modified"
    case .fresh: "fresh"
    case .deletionsRefused: "deletions refused"
    case .incomplete: "incomplete"
    }
  }

  private func table(_ reports: [SyncReport]) -> TextTable {
    var table = TextTable(
      titles.enumerated().map { .init($1, $0 < 2 ? .text : .number) })
    for report in reports {
      let numbers = numbers(report)
      table.append(
        [report.feed, outcome(report)]
          + numbers.dropLast().map { Formatting.count(Int64($0)) }
          + [Formatting.bytes(Int64(report.bytes))])
    }
    return table
  }
}

extension HTTPExchange {
  /// One line: what was asked, what came, and what the request was conditional on.
  fileprivate var line: String {
    var parts = [method, url, status.map(String.init) ?? failure?.rawValue ?? "no answer"]
    parts += [Formatting.bytes(Int64(wireBytes)), Formatting.duration(duration)]
    if let version { parts.append("HTTP/\(version)") }
    if isReused { parts.append("same connection") }
    if !conditions.isEmpty { parts.append(conditions.joined(separator: ", ")) }
    if let redirectedFrom { parts.append("redirected from \(redirectedFrom)") }
    return parts.joined(separator: "  ")
  }
}
