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
      mooring sync
      mooring sync https://example.org/feed.xml --now
      mooring sync --explain

      A URL that is not a feed yet is added if its document is one. After Ctrl-C or a kill \
      everything that was committed stays, and the next run continues from there. A feed whose \
      last response is still fresh according to its server is not requested. A feed that fails \
      does not stop the others; the status is that of the first failure.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "Feeds by URL or by number (see `mooring feed list`).", completion: .feed)
  var feeds: [String] = []
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
    let syncs = FeedSyncs(
      engine: engine, store: store, options: engineOptions, waits: wait,
      isQuiet: options.quiet, command: command)
    do {
      try await command.run(
        afterInterrupt: "what was committed stays, and the next sync continues from there"
      ) { try await syncs.run(chosen) }
    } catch {
      let reports = syncs.results.reports
      if !reports.isEmpty { try SyncOutput(format: format).write(reports) }
      throw error
    }
    let (reports, failure) = (syncs.results.reports, syncs.results.failure)
    // The exit status is that of the work, even if nothing reads the reports.
    let written = Result { try SyncOutput(format: format).write(reports) }
    if !options.quiet {
      for report in reports { report.writeMessages(isOnly: reports.count == 1) }
    }
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
        candidateAddedAt: feed.isRemoved ? feed.addedAt : nil, host: feed.host)
      try JobEnqueued(try await queue.enqueue(JobRequest(sync))).write(format)
      if feed.isRemoved, !options.quiet {
        Message.say("\(shownURL(feed.url)) is added as soon as its document can be read")
      }
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
      let isNew = try name.contains("://") && feeds.feed(named: name) == nil
      chosen.append(try await isNew ? feeds.candidate(name) : feeds.find(name))
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
