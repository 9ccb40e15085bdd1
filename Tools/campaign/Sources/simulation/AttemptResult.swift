import Foundation
import StoreFigures
import StoreJobs
import Synchronization

@testable import DurableJobs
@testable import FeedSync
@testable import SystemSupport

/// The result of an attempt, once its strand has ended.
final class AttemptResult: Sendable {
  let outcome = Mutex<Outcome?>(nil)
  let hasProgress = Mutex(false)

  /// Runs the handler, as a runner does.
  func run(
    _ handler: JobHandler, _ context: JobContext, _ threads: BoundedThreads, _ chance: Chance
  ) async {
    var result: Result<Data?, any Error>
    do {
      result = .success(try await handler.run(context, threads))
    } catch {
      result = .failure(error)
    }
    let end = context.running.outcome(of: result, backoff: handler.backoff, random: chance.share)
    outcome.withLock { $0 = end }
  }
}

extension Outcome {
  /// The same to the model.
  var end: JobModels.End {
    switch self {
    case .succeeded: .success
    case .discarded: .discard
    case .cancelled: .cancel
    case .handedBack: .handBack
    case .failed(_, let wait): .failure(wait: wait.seconds)
    case .snoozed(let wait, _): .snooze(wait: wait.seconds)
    }
  }
}

extension World {
  func handlers(
    isWorker: Bool, on machine: Machine, _ figures: FigureRecorder
  ) -> JobHandlers {
    var handlers = JobHandlers()
    if isWorker {
      var engine = SyncEngine(
        store: machine.store, transport: NetworkAccess(network, link: machine.link),
        onRun: { feed, report, start, seconds in
          figures.record(run: report, feed: feed, startedAt: start, seconds: seconds)
        })
      engine.sleep = { (wait: Duration) in
        guard let strand = Strand.current else { throw Violation("a sync outside of a strand") }
        try await strand.sleep(milliseconds: Int(wait / .milliseconds(1)) + 1)
      }
      handlers.handleStoreJobs(sync: engine)
    }
    handlers.handle(Work.self) { [self] _, context in try await work(context) }
    return handlers
  }
}
