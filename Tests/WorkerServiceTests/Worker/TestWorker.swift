import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import HomeFeed
import Logging
import Migrations
import ServiceLifecycle
import SystemSupport
import TestSupport
import Testing

@testable import WorkerService

/// A worker in this process, in a separate service group, with its log.
final class TestWorker: Sendable {
  /// Lines such as `info a job has ended job=1 kind=feed.sync status=succeeded`.
  let log = Journal()
  /// The notifications to systemd.
  let systemd = Journal()
  let worker: Worker
  private let group: ServiceGroup
  private let socket: NotifySocket
  private let transport: CurlTransport

  init(
    on folder: String, _ settings: LiveSettings,
    _ change: (inout Worker.Configuration) -> Void = { _ in }
  ) throws {
    let name = "@mooring-worker-\(UUID().uuidString)"
    socket = try NotifySocket(name)
    socket.keep(in: systemd)
    var transportOptions = CurlTransport.Configuration()
    // A server that a test lets wait is not slow.
    transportOptions.slowSecondsMax = 600
    transport = try CurlTransport(configuration: transportOptions)
    let logger = Logger(label: "worker") { [log] _ in JournalLogHandler(journal: log) }
    var configuration = Worker.Configuration(
      folder: folder, transport: transport, settings: settings, logger: logger
    ) {
      try openWorkerStore(folder)
    }
    configuration.notifier = try ServiceNotifier(environment: ["NOTIFY_SOCKET": name])
    change(&configuration)
    worker = Worker(configuration)
    group = ServiceGroup(
      configuration: .init(
        services: [
          .init(service: worker, successTerminationBehavior: .gracefullyShutdownGroup)
        ], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }))
  }

  deinit {
    socket.end()
    transport.shutdown()
  }

  /// Runs the worker during `body`, and stops it at the end.
  ///
  /// - Parameter state: The state that was reported to systemd before `body` begins.
  func run(
    from state: String = "READY=1", isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Void
  ) async throws {
    let running = Task { [group] in try await group.run() }
    do {
      try await systemd.wait(for: state)
      try await body()
    } catch {
      await stop()
      _ = await running.result
      throw error
    }
    await stop()
    try await running.value
  }

  /// Requests that it drains.
  func stop() async { await group.triggerGracefulShutdown() }
}

/// Runs `body` with a folder for a store, and expects that the store is undamaged at the end.
func withWorkerFolder(
  isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    let path = folder.path("store")
    try await body(path)
    let store = try openWorkerStore(path)
    try requireClean(store)
    try requireWholePages(store)
    #expect(try JobQueue(store).runners().isEmpty)
  }
}

func openWorkerStore(
  _ folder: String, now: @escaping @Sendable () -> Date = { Date() }
) throws -> Store {
  var options = Store.Options()
  options.now = now
  options.mapSize = 1 << 30
  options.flushesCommits = false
  return try Store.open(
    at: folder, migrations: [.jobs, .feeds, .homeFeed], migrate: .ifEmpty, options: options)
}

extension Store {
  /// Waits until a job has a state; a job that has ended with another one fails the test.
  @discardableResult
  func wait(
    for job: JobID, toBe state: JobState, and isRight: (JobStatus) -> Bool = { _ in true }
  ) async throws -> JobStatus {
    for try await status in JobQueue(self).updates(of: job) {
      if status.state == state, isRight(status) { return status }
      try #require(!status.state.isFinished, "\(status)")
    }
    throw CancellationError()
  }
}

// MARK: Settings

/// Settings that a test changes.
final class SettingsSource: Sendable {
  struct Refusal: Error, CustomStringConvertible { let description: String }

  private let settings: Locked<WorkerSettings?>

  init(_ change: (inout WorkerSettings) -> Void = { _ in }) {
    var settings = WorkerSettings()
    settings.jitter = 0
    settings.hostSpacing = .zero
    settings.diskReserve = 0
    change(&settings)
    self.settings = Locked(settings)
  }

  func live() throws -> LiveSettings { try LiveSettings { try self.load() } }

  func change(_ change: (inout WorkerSettings) -> Void) {
    settings.withLock { settings in
      var changed = settings ?? WorkerSettings()
      change(&changed)
      settings = changed
    }
  }

  func spoil() { settings.withLock { $0 = nil } }

  private func load() throws -> EffectiveSettings {
    guard let settings = settings.withLock({ $0 }) else {
      throw Refusal(description: "the file is spoiled")
    }
    let items = Setting.all.map { setting in
      EffectiveSettings.Item(
        setting: setting, text: setting.text(of: settings), source: .default)
    }
    return EffectiveSettings(settings: settings, items: items, file: nil, warnings: [])
  }
}

// MARK: The log

private struct JournalLogHandler: LogHandler {
  let journal: Journal
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let parts = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    journal.add((["\(event.level)", "\(event.message)"] + parts).joined(separator: " "))
  }
}
