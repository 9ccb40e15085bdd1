import LegacyImport

extension ImportProgress {
  /// A table or a relationship, as a command tells it.
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
    case .verification: "reading back"
    }
  }
}
