import Console
import EntityStore
import Migrations

/// Runs as a command what changes the schema of a store: with progress, and until Ctrl-C.
struct MigrationRunner {
  /// What goes on after an interrupt, as it is typed.
  let command: String
  let reporter: StageReporter

  /// Calls a body that blocks.
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
    options.progress = { reporter.report($0.report) }
    let prepared = options
    return try await reporter.run(
      until: interrupt, afterInterrupt: "`\(command)` goes on from here"
    ) { try body(prepared) }
  }
}
