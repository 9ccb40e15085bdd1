import EntityStore
import Migrations

extension MigrationProgress {
  /// A stage of a step, as a command tells it.
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
