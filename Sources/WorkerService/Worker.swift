import Dispatch
import DurableJobs
public import EntityStore
import FeedSync
import Foundation
public import HTTPClient
public import Logging
import Metrics
public import ServiceLifecycle
import StoreJobs

/// Runs the jobs of a store and syncs its feeds on schedule: what `mooring worker` is.
///
/// It opens the store, runs until its service group shuts down, and then drains: what runs may come to
/// its end within `drainTimeout`, and what does not goes back to its queue without a counted attempt.
/// For a compaction it closes the store in between and opens it again.
///
/// A full disk does not end it: it says so, waits, and goes on when there is room.
public final class Worker: Service {
  /// What a worker is made of.
  public struct Configuration: Sendable {
    /// The store's folder.
    public var folder: String
    /// Opens the store, or makes it.
    public var open: @Sendable () throws -> Store
    public var transport: any HTTPTransport
    public var settings: LiveSettings
    public var logger: Logger
    /// Whose level and format a reload changes.
    public var logOutput: LogOutput?
    /// Where its state is told; `nil` outside of systemd.
    public var notifier: ServiceNotifier?
    /// Half of what systemd waits for; `nil` for no watchdog.
    public var watchdogInterval: Duration?
    /// How the store is opened to be compacted.
    public var compaction = Store.Options()
    /// What the store tells of the worker.
    public var command = "worker"

    public init(
      folder: String, transport: any HTTPTransport, settings: LiveSettings, logger: Logger,
      open: @escaping @Sendable () throws -> Store
    ) {
      self.folder = folder
      self.transport = transport
      self.settings = settings
      self.logger = logger
      self.open = open
    }
  }

  private let configuration: Configuration
  private let health: WorkerHealth
  private let compactions = Compactions()
  private let current = CurrentRunner()

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    health = WorkerHealth(configuration.notifier, configuration.logger)
  }

  /// - Throws: `WorkerError` if another worker serves the store; `StoreError` if the store cannot be
  ///   used. Everything that was committed stays.
  public func run() async throws {
    try await withTaskCancellationOrGracefulShutdownHandler {
      let watchdog = watchdog()
      watchdog?.start()
      defer { watchdog?.stop() }
      var lock: WorkerLock?
      while !current.isStopping {
        try await serve(&lock)
        await compactIfAsked()
      }
    } onCancelOrGracefulShutdown: {
      self.shutDown()
    }
    configuration.logger.info("stopped")
  }

  /// Takes over settings that have been read anew.
  public func reload() async {
    health.reloading()
    switch configuration.settings.reload() {
    case .unchanged: configuration.logger.info("the settings are as they were")
    case .changed(let live, let afterRestart):
      configuration.logger.info(
        "new settings",
        metadata: [
          "live": "\(live.joined(separator: " "))",
          "after a restart": "\(afterRestart.joined(separator: " "))",
        ])
      let settings = configuration.settings.current
      configuration.logOutput?.change(level: settings.logLevel, format: settings.logFormat)
      await limit()
    case .refused(let why):
      configuration.logger.error("the settings stay as they were", metadata: ["error": "\(why)"])
    }
    health.reloaded()
  }

  private func shutDown() {
    let bound = configuration.settings.current.drainTimeout
    health.stopping(within: bound + .seconds(15))
    configuration.logger.info("stopping", metadata: ["within": "\(bound.components.seconds) s"])
    current.stopForGood(within: bound)
  }

  // MARK: One opening of the store

  /// Opens the store and serves it until the worker stops, or somebody has asked for a compaction.
  ///
  /// - Parameter lock: Taken with the first opening, which may make the folder.
  private func serve(_ lock: inout WorkerLock?) async throws {
    guard let store = try await open() else { return }
    defer { store.close() }
    if lock == nil { lock = try WorkerLock(ofStore: configuration.folder) }
    _ = notesDisk(of: store)
    let runner = JobRunner(store, handlers(store), options: runnerOptions())
    guard current.begin(runner) else { return }
    defer { current.end() }
    health.opened(store)
    defer { health.closing() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await runner.run() }
      let chores = chores(store, runner)
      for chore in chores { group.addTask { try await chore() } }
      // The runner ends last, unless something fails: then nothing goes on without it.
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// A full disk is waited out here, too.
  private func open() async throws -> Store? {
    while !current.isStopping {
      do {
        // It may wait for others that have the store, which is nothing for the cooperative pool.
        return try await onThreadOfItsOwn(configuration.open)
      } catch let error as StoreError where error.passes {
        health.condition(.blocked("\(error)"))
        try await Task.sleep(for: .seconds(5))
      }
    }
    return nil
  }

  private func handlers(_ store: Store) -> JobHandlers {
    var handlers = JobHandlers()
    let compaction: StoreCompaction = {
      [compactions, current, settings = configuration.settings] context in
      do {
        return try compactions.take(context.id) {
          current.stop(within: settings.current.drainTimeout)
        }
      } catch let error as StoreError where error.passes {
        // Each attempt keeps all other jobs waiting, so it counts, and they do not follow at once.
        throw JobStop.retry(after: .seconds(300), because: "\(error)")
      }
    }
    let engine = SyncEngine(
      store: store, transport: configuration.transport,
      hostSpacing: { [settings = configuration.settings] in settings.current.hostSpacing })
    handlers.handleStoreJobs(sync: engine, compact: compaction)
    return handlers
  }

  private func runnerOptions() -> RunnerOptions {
    let settings = configuration.settings.current
    var options = RunnerOptions()
    options.concurrency = concurrency
    options.blockingThreads = settings.blockingThreads
    options.queueLimits = settings.queueLimits
    options.command = configuration.command
    options.logger = configuration.logger
    options.onStart = { [health, logger = configuration.logger, folder = configuration.folder] in
      health.ready()
      logger.info("serving", metadata: ["store": "\(folder)"])
    }
    options.onCondition = { [health] in health.condition($0) }
    options.onEnd = { [logger = configuration.logger] in JobMetrics.record($0, logger) }
    return options
  }

  private var concurrency: Int {
    health.isDiskLow ? 0 : configuration.settings.current.concurrency
  }

  private func limit() async {
    let queues = configuration.settings.current.queueLimits
    await current.runner?.limit(concurrency: concurrency, queues: queues)
  }

  // MARK: Chores

  private func chores(
    _ store: Store, _ runner: JobRunner
  ) -> [@Sendable () async throws -> Void] {
    let feeds = FeedSchedule(
      store: store, settings: configuration.settings, logger: configuration.logger)
    return [
      { try await self.waitingOutFullDisk { try await feeds.run() } },
      { try await self.waitingOutFullDisk { try await self.prune(store) } },
      { try await self.watchDisk(store) },
      { try await self.waitingOutFullDisk { try await self.report(store, runner) } },
    ]
  }

  /// Begins a chore again while the store cannot be written; the runner says why.
  private func waitingOutFullDisk(_ chore: () async throws -> Void) async throws {
    while true {
      do {
        return try await chore()
      } catch let error as StoreError where error.passes {
        try await Task.sleep(for: .seconds(5))
      }
    }
  }

  private func prune(_ store: Store) async throws {
    while true {
      let count = try await JobQueue(store).prune()
      if count > 0 {
        configuration.logger.debug("removed finished jobs", metadata: ["jobs": "\(count)"])
      }
      try await Task.sleep(for: configuration.settings.current.pruneEvery)
    }
  }

  /// Pauses before the disk is full, so that there is room for what is to be written in order to stop.
  private func watchDisk(_ store: Store) async throws {
    while true {
      if notesDisk(of: store) { await limit() }
      health.askForTimeToStart()
      try await Task.sleep(for: .seconds(10))
    }
  }

  /// - Returns: Whether the disk has become low, or is so no longer.
  private func notesDisk(of store: Store) -> Bool {
    guard let free = store.freeBytesOfVolume else { return false }
    return health.note(
      freeBytes: free, reserve: configuration.settings.current.diskReserve)
  }

  private func report(_ store: Store, _ runner: JobRunner) async throws {
    var metrics = BacklogMetrics()
    while true {
      metrics.record(try JobQueue(store).backlog(), running: await runner.runningCount)
      try await Task.sleep(for: configuration.settings.current.metricsEvery)
    }
  }

  // MARK: Compaction

  /// Nobody may have the store open while it is replaced, this process least of all.
  private func compactIfAsked() async {
    guard let job = compactions.next else { return }
    configuration.logger.info("compacting", metadata: ["job": "\(job)"])
    health.status("compacting")
    let (folder, options) = (configuration.folder, configuration.compaction)
    do {
      let report = try await onThreadOfItsOwn { try Store.compact(at: folder, options: options) }
      compactions.finish(job, .success(report))
    } catch {
      compactions.finish(job, .failure(error))
    }
  }

  private func onThreadOfItsOwn<R: Sendable>(
    _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let queue = DispatchQueue(label: "mooring.worker")
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  // MARK: Watchdog

  /// Each ping proves that the writer has answered: a write that changes nothing goes through its queue
  /// and through the lock that other processes share.
  private func watchdog() -> Watchdog? {
    guard let interval = configuration.watchdogInterval else { return nil }
    return Watchdog(every: interval) { [health] in
      await health.writerAnswers()
    } ping: { [health] in
      health.ping()
    }
  }
}

extension WorkerSettings {
  fileprivate var queueLimits: [QueueName: Int] {
    Dictionary(queues.map { (QueueName(rawValue: $0.queue), $0.limit) }) { $1 }
  }
}
