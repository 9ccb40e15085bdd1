import Console
import Dispatch
import EntityStore
import Foundation
import Synchronization

/// Runs as a command what changes the schema of a store: with progress, and until Ctrl-C.
struct MigrationRunner {
  /// What goes on after an interrupt, as it is typed.
  let command: String
  let reporter: MigrationReporter

  /// Calls a body that blocks, on a thread of its own: it may last for hours, and the threads of tasks
  /// are few.
  ///
  /// - Parameter options: How the body migrates; the runner adds progress and interruption.
  /// - Throws: What the body throws; exit status 130 after an interrupt, which is then said.
  func run<R: Sendable>(
    _ options: MigrationOptions, _ body: @escaping @Sendable (MigrationOptions) throws -> R
  ) async throws -> R {
    let interrupt = Interrupt()
    let reporter = reporter
    var options = options
    options.isCancelled = { interrupt.isWanted }
    options.progress = { reporter.report($0) }
    let prepared = options
    do {
      let result = try await interrupt.watching {
        try await Self.onThreadOfItsOwn { try body(prepared) }
      }
      reporter.finish()
      return result
    } catch {
      reporter.finish()
      // Who waits for another run when the wish comes has waited in vain.
      let isBusy = (error as? any ExitStatusProviding)?.exitStatus == .tryAgain
      guard interrupt.isWanted, isBusy || error is CancellationError else { throw error }
      Message.say("stopped; `\(command)` goes on from here")
      throw ExitStatus.interrupted.exitCode
    }
  }

  private static func onThreadOfItsOwn<R: Sendable>(
    _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }
}

/// The wish that a command end: Ctrl-C, or SIGTERM of a service manager.
private final class Interrupt: Sendable {
  private let wishes = Atomic(0)

  var isWanted: Bool { wishes.load(ordering: .relaxed) > 0 }

  /// Notes signals for as long as a body runs.
  func watching<R>(_ body: () async throws -> R) async throws -> R {
    let queue = DispatchQueue(label: "interrupt")
    let sources = [SIGINT, SIGTERM].map {
      DispatchSource.makeSignalSource(signal: $0, queue: queue)
    }
    defer { for source in sources { source.cancel() } }
    for source in sources {
      source.setEventHandler { [self] in note() }
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
    }
    return try await body()
  }

  /// Who asks twice does not want to wait for the end of a chunk, or of a copy. A kill does no harm.
  private func note() {
    let (wishes, _) = wishes.add(1, ordering: .relaxed)
    if wishes > 0 { _exit(ExitStatus.interrupted.rawValue) }
  }
}
