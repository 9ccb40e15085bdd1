import Console
import LegacyImport

extension LongCommand {
  /// Works on a legacy file with progress until it is done or interrupted.
  ///
  /// - Throws: The errors of the body; exit status 130 after an interrupt.
  func read<R: Sendable>(
    _ file: LegacyFileArgument, prunes: Bool = false, allowsDeletions: Bool = false,
    afterInterrupt: String,
    _ body: @escaping @Sendable (LegacyFile) throws -> R
  ) async throws -> R {
    var options = LegacyFile.Options()
    options.allowsDamage = file.damaged
    options.prunes = prunes
    options.allowsDeletions = allowsDeletions
    options.missingRowsAllowed = file.missing ?? 0
    options.isCancelled = { self.isInterrupted }
    options.progress = { self.report($0.report) }
    let legacy = LegacyFile(file.path, options)
    return try await runBlocking(afterInterrupt: afterInterrupt) { try body(legacy) }
  }
}

extension ImportProgress {
  /// The progress of a table or a relationship.
  var report: StageReport {
    StageReport(
      stage: "\(stage.rawValue) \(name)", title: "\(stage.participle): \(name)",
      // A message for each of a thousand tables would hide what matters.
      message: stage == .copying ? nil : stage.participle, done: done, total: total,
      event: Event(
        stage: stage.rawValue, name: name, done: done, total: total > 0 ? total : nil))
  }

  private struct Event: Encodable {
    let event = "progress"
    let stage: String
    let name: String
    let done: Int64
    let total: Int64?
  }
}

extension ImportProgress.Stage {
  fileprivate var participle: String {
    switch self {
    case .copying: "copying the file"
    case .objects: "reading rows"
    case .links: "linking"
    case .pruning: "comparing keys"
    case .verification: "reading back"
    }
  }
}
