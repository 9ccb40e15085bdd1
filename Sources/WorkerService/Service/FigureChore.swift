import DurableJobs
import EntityModel
import EntityStore
import Foundation
import Logging
import StoreFigures
import SystemSupport

/// Writes the figures of a worker to its store, once a minute and at the end. A failure is logged,
/// and what was recorded is written later.
struct FigureChore: Sendable {
  let recorder: FigureRecorder
  let settings: LiveSettings
  let logger: Logger
  /// The remarks that were logged once.
  private let remarks = Locked<Set<String>>([])

  init(_ recorder: FigureRecorder, _ settings: LiveSettings, _ logger: Logger) {
    self.recorder = recorder
    self.settings = settings
    self.logger = logger
  }

  /// Runs until the task is cancelled.
  func run(_ store: Store) async throws {
    while true {
      recorder.fetchObserver.threshold = settings.current.slowFetch
      try await ChoreTimes.pause(every: .seconds(60))
      await flush(to: store)
    }
  }

  func flush(to store: Store) async {
    do {
      recorder.set(try gauges(of: store))
      switch try await recorder.flush(to: store) {
      case .nothing, .written(feedsLeftOut: 0): break
      case .written(let count):
        logOnce("not all feeds have figures: there are too many", ["left out": "\(count)"])
      case .absent:
        logOnce("no figures are recorded: `mooring migrate up` adds their entities")
      }
    } catch let error as StoreError where error.passes {
      // The runner reports it.
    } catch {
      logger.warning("the figures could not be written", metadata: ["error": "\(error)"])
    }
  }

  private func logOnce(_ remark: Logger.Message, _ metadata: Logger.Metadata = [:]) {
    guard remarks.withLock({ $0.insert("\(remark)").inserted }) else { return }
    logger.notice(remark, metadata: metadata)
  }

  private func gauges(of store: Store) throws -> FigureGauges {
    var gauges = FigureGauges()
    try store.read { transaction in
      let space = try store.space(in: transaction)
      gauges.storeBytes = Int64(space.usedBytes - space.reusableBytes)
      gauges.mapBytes = Int64(space.mapBytes)
      let ready = FetchPredicate.comparison("state", .equal, .string(JobState.ready.rawValue))
      gauges.jobsReady = Int64(
        try transaction.count(FetchRequest(entityName: "_Job", predicate: ready)))
    }
    let oldest = try JobQueue(store).backlog().map(\.oldest.seconds).max()
    gauges.oldestReadySeconds = Int64(oldest ?? 0)
    return gauges
  }
}
