import Console
import EntityObjects
import EntityStore
import Foundation

/// Runs a batch as a command: with progress, and until Ctrl-C.
struct BatchRunner {
  let label: String
  let isQuiet: Bool

  /// - Throws: What the batch throws; exit status 130 after an interrupt, which is then said.
  func run(
    _ batch:
      @escaping @Sendable (
        _ progress: @escaping @Sendable (BatchProgress) -> Void
      ) async throws -> BatchResult
  ) async throws -> BatchResult {
    let start = ContinuousClock.now
    let line = ProgressLine.standardError(
      isQuiet: isQuiet, environment: ProcessInfo.processInfo.environment,
      now: { ContinuousClock.now - start })
    let label = label
    do {
      let result = try await untilInterrupt {
        try await batch { line.update(label, done: $0.done, of: $0.total) }
      }
      line.finish()
      if result.isResumed, !isQuiet { Message.say("went on where an interrupted run had stopped") }
      return result
    } catch is CancellationError {
      line.finish()
      Message.say("interrupted; what was committed stays, and the same command goes on from there")
      throw ExitStatus.interrupted.exitCode
    } catch {
      line.finish()
      throw error
    }
  }
}
