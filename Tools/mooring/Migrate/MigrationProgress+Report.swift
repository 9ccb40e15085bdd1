import Console
import EntityStore
import Migrations

extension LongCommand {
  /// Changes the schema of a store with progress until it is done or interrupted.
  ///
  /// - Parameter command: The command that continues after an interrupt, as it is typed.
  /// - Parameter options: Progress and cancellation are added to them.
  /// - Throws: The errors of the body; exit status 130 after an interrupt.
  func migrate<R: Sendable>(
    _ options: MigrationOptions, continuedBy command: String,
    _ body: @escaping @Sendable (MigrationOptions) throws -> R
  ) async throws -> R {
    var options = options
    options.isCancelled = { self.isInterrupted }
    options.progress = { self.report($0.report) }
    let prepared = options
    return try await runBlocking(afterInterrupt: "`\(command)` continues from here") {
      try body(prepared)
    }
  }
}

extension MigrationProgress {
  /// The progress of a stage of a step.
  var report: StageReport {
    let name = "\(line) \(migration), step \(step) of \(steps): \(text)"
    return StageReport(
      stage: "\(line) \(migration) \(step) \(stage.rawValue)",
      title: "\(name), \(stage.rawValue)", message: name, done: done, total: total,
      event: Event(
        line: line, migration: migration, step: step, steps: steps, text: text,
        stage: stage.rawValue, done: done, total: total > 0 ? total : nil,
        longestWaitSeconds: longestWait / .seconds(1)))
  }

  private struct Event: Encodable {
    let event = "progress"
    let line: String
    let migration: String
    let step: Int
    let steps: Int
    let text: String
    let stage: String
    let done: Int64
    let total: Int64?
    let longestWaitSeconds: Double
  }
}
