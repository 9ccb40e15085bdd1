import Dispatch
import DurableJobs
public import EntityStore
import FeedSync
import Foundation
import Glibc
public import HTTPClient
public import Logging
import Maintenance
import Metrics
public import ServiceLifecycle
public import StoreFigures
import StoreJobs
import UnixSignals

/// Runs the jobs of a store and syncs its feeds on schedule: the service of `mooring worker`.
///
/// The worker opens the store, runs until its service group shuts down, and then drains: running
/// jobs may end within `drainTimeout`; the others return to their queues without a counted attempt.
/// For a compaction it closes the store and opens it again.
///
/// While the disk is full, the worker reports it, waits, and continues when there is room.
public final class Worker: Service {
  /// The parts of a worker.
  public struct Configuration: Sendable {
    /// The store's folder.
    public var folder: String
    /// Opens the store, or creates it.
    public var open: @Sendable () throws -> Store
    public var transport: any HTTPTransport
    public var settings: LiveSettings
    public var logger: Logger
    /// The log output whose level and format a reload changes.
    public var logOutput: LogOutput?
    /// Reports the state of the worker to systemd; `nil` outside of systemd.
    public var notifier: ServiceNotifier?
    /// Half of systemd's watchdog time; `nil` for no watchdog.
    public var watchdogInterval: Duration?
    /// The options with which the store is opened for a compaction.
    public var compaction = Store.Options()
    /// Collects the figures that are written to the store. The fetches of a store that is opened
    /// with its observer are measured.
    public var figures = FigureRecorder()
    /// A description of the worker, stored in the record of its runner.
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
  private let figures: FigureChore

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    figures = FigureChore(configuration.figures, configuration.settings, configuration.logger)
    health = WorkerHealth(configuration.notifier, configuration.logger)
  }

  /// Runs until the service group shuts down or the task is cancelled.
  ///
  /// - Throws: `WorkerError` if another worker serves the store; `StoreError` if the store cannot
  ///   be used. Everything that was committed stays.
  public func run() async throws {
    try await withTaskCancellationOrGracefulShutdownHandler {
      let watchdog = watchdog()
      watchdog?.start()
      defer { watchdog?.stop() }
      var lock: WorkerLock?
      while !current.isStopping {
        do {
          try await serve(&lock)
        } catch let error as JobError where error.code == .lostRunner {
          configuration.logger.warning("starting again", metadata: ["because": "\(error)"])
        }
        await compactIfAsked()
      }
    } onCancelOrGracefulShutdown: {
      self.shutDown()
    }
    configuration.logger.info("stopped")
  }

  /// Reads the settings again and applies those that need no restart.
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

  /// Opens the store and serves it until the worker stops or a job has requested a compaction.
  ///
  /// - Parameter lock: Taken after the first opening, which may create the folder.
  private func serve(_ lock: inout WorkerLock?) async throws {
    guard let store = try await open() else { return }
    defer { store.close() }
    if lock == nil { lock = try WorkerLock(ofStore: configuration.folder) }
    _ = updateFreeSpace(of: store)
    let runner = JobRunner(store, handlers(store), options: runnerOptions())
    guard current.begin(runner) else { return }
    defer { current.end() }
    health.opened(store)
    defer { health.closing() }
    do {
      try await run(runner, store)
    } catch {
      await figures.flush(to: store)
      throw error
    }
    await figures.flush(to: store)
  }

  /// Runs the runner and the chores until the runner ends, or something fails.
  private func run(_ runner: JobRunner, _ store: Store) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await runner.run() }
      let chores = chores(store, runner)
      for chore in chores { group.addTask { try await chore() } }
      // The runner ends last, unless something fails: then nothing goes on without it.
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Opens the store, and waits while the disk is full.
  ///
  /// - Returns: `nil` if the worker stops before.
  private func open() async throws -> Store? {
    while !current.isStopping {
      do {
        // It may block while others have the store, so it must not run on the cooperative pool.
        return try await onOwnThread(configuration.open)
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
        // Each attempt delays all other jobs, so it counts, and the next one comes much later.
        throw JobStop.retry(after: .seconds(300), because: "\(error)")
      }
    }
    let engine = SyncEngine(
      store: store, transport: configuration.transport,
      hostSpacing: { [settings = configuration.settings] in settings.current.hostSpacing },
      now: { store.now() }
    ) { [figures = configuration.figures] feed, report, start, seconds in
      figures.record(run: report, feed: feed, startedAt: start, seconds: seconds)
    }
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
    options.onEnd = { [logger = configuration.logger, figures = configuration.figures] in
      JobMetrics.record($0, logger)
      figures.record(attempt: $0)
    }
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
      store: store, settings: configuration.settings, logger: configuration.logger,
      figures: configuration.figures)
    return [
      { try await self.waitingOutFullDisk { try await feeds.run() } },
      { try await self.waitingOutFullDisk { try await self.prune(store) } },
      { try await self.watchDisk(store) },
      { try await self.figures.run(store) },
      { try await self.waitingOutFullDisk { try await self.report(store, runner) } },
    ]
  }

  /// Runs a chore again until the store can be written; the runner reports the reason.
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
      try await ChoreTimes.pause(every: configuration.settings.current.pruneEvery)
    }
  }

  /// Pauses the worker before the disk is full, so that there is room for the writes of an orderly
  /// stop.
  private func watchDisk(_ store: Store) async throws {
    while true {
      if updateFreeSpace(of: store) { await limit() }
      health.extendStart()
      try await ChoreTimes.pause(every: .seconds(15))
    }
  }

  /// - Returns: True if the disk has become low, or no longer is.
  private func updateFreeSpace(of store: Store) -> Bool {
    guard let free = store.freeBytesOfVolume else { return false }
    return health.update(
      freeBytes: free, reserve: configuration.settings.current.diskReserve)
  }

  private func report(_ store: Store, _ runner: JobRunner) async throws {
    var metrics = BacklogMetrics()
    while true {
      metrics.record(try JobQueue(store).backlog(), running: await runner.runningCount)
      try await ChoreTimes.pause(every: configuration.settings.current.metricsEvery)
    }
  }

  // MARK: Compaction

  /// Compacts the store if a job has requested it. No process may have the store open then.
  private func compactIfAsked() async {
    guard let job = compactions.next else { return }
    configuration.logger.info("compacting", metadata: ["job": "\(job)"])
    health.status("compacting")
    let (folder, options) = (configuration.folder, configuration.compaction)
    do {
      let report = try await onOwnThread { try Store.compact(at: folder, options: options) }
      compactions.finish(job, .success(report))
    } catch {
      compactions.finish(job, .failure(error))
    }
  }

  private func onOwnThread<R: Sendable>(
    _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let queue = DispatchQueue(label: "mooring.worker")
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  // MARK: Watchdog

  /// Each ping proves that the writer has answered: an empty write passes through its queue and
  /// through the lock of the store.
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

/// Reloads the settings of a worker at each SIGHUP, which `systemctl reload` sends.
public struct ReloadOnHangup: Service {
  private let worker: Worker

  public init(_ worker: Worker) { self.worker = worker }

  public func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      await worker.reload()
    }
  }
}

/// Raises the soft limit of `RLIMIT_NOFILE` to the hard one. Call it at the start of a service.
///
/// libdispatch on Linux opens `/proc/<thread>/stat` to monitor its threads, and ends the process
/// when that fails because no descriptor is free. The soft limit is usually 1,024, for select(2),
/// which is not used here.
///
/// - Returns: The limit in effect. It is the old one if the system refuses, as a sandbox may.
@discardableResult
public func raiseDescriptorLimit() -> UInt64 {
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  var limit = rlimit()
  guard getrlimit(resource, &limit) == 0 else { return 0 }
  let before = limit.rlim_cur
  limit.rlim_cur = limit.rlim_max
  return UInt64(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
}
