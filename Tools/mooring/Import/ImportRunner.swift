import Console
import EntityStore
import LegacyImport

/// Works on a legacy file as a command: with progress, and until Ctrl-C.
struct ImportRunner {
  let file: LegacyFileArgument
  let reporter: StageReporter
  /// Said after an interrupt: what is left, and what goes on.
  let afterInterrupt: String

  init(
    _ file: LegacyFileArgument, _ options: StoreOptions, _ format: OutputFormat,
    afterInterrupt: String
  ) {
    self.file = file
    self.afterInterrupt = afterInterrupt
    reporter = StageReporter(isQuiet: options.quiet, isJSON: format == .json)
  }

  /// - Throws: What the body throws; exit status 130 after an interrupt, which is then said.
  func run<R: Sendable>(_ body: @escaping @Sendable (LegacyFile) throws -> R) async throws -> R {
    let (interrupt, reporter) = (Interrupt(), reporter)
    var options = LegacyFile.Options()
    options.allowsDamage = file.damaged
    options.isCancelled = { interrupt.isWanted }
    options.progress = { reporter.report($0.report) }
    let legacy = LegacyFile(file.path, options)
    return try await reporter.run(until: interrupt, afterInterrupt: afterInterrupt) {
      try body(legacy)
    }
  }
}
