import Console
import EntityStore
import Foundation
import Synchronization

/// Tells on standard error how far a run of migrations is: as a line that is drawn again and again on a
/// terminal, with a message for each long step elsewhere, or as lines of JSON.
final class MigrationReporter: Sendable {
  private enum Form {
    case silent, line, messages, json
  }

  /// A stage of a step, which has a rate of its own.
  private struct Stage: Equatable {
    let line: String
    let migration: String
    let step: Int
    let stage: MigrationProgress.Stage
  }

  private struct State {
    var stage: Stage?
    var startedAt = ContinuousClock.now
    var doneAtStart: Int64 = 0
    var toldAt = ContinuousClock.now
  }

  /// Between two lines of JSON of one stage.
  private static let interval = Duration.milliseconds(500)

  private let form: Form
  private let line: ProgressLine
  private let state = Mutex(State())

  /// - Parameter isJSON: Whether the command prints JSON.
  init(isQuiet: Bool, isJSON: Bool) {
    let environment = ProcessInfo.processInfo.environment
    let style = ProgressLine.Style.standardError(isQuiet: isQuiet, environment: environment)
    form = isQuiet ? .silent : isJSON ? .json : style.width == nil ? .messages : .line
    let start = ContinuousClock.now
    line = .standardError(
      isQuiet: isQuiet, environment: environment, now: { ContinuousClock.now - start })
  }

  func report(_ progress: MigrationProgress) {
    if form == .silent { return }
    state.withLock { state in
      let now = ContinuousClock.now
      let stage = Stage(
        line: progress.line, migration: progress.migration, step: progress.step,
        stage: progress.stage)
      let before = state.stage
      if before != stage {
        state = State(stage: stage, startedAt: now, doneAtStart: progress.done, toldAt: now)
      }
      switch form {
      case .silent: break
      case .line: draw(progress, state, now)
      case .messages:
        let isNew =
          before?.line != stage.line || before?.migration != stage.migration
          || before?.step != stage.step
        if isNew { Message.say("\(Self.name(of: progress)): \(progress.text)") }
      case .json:
        if before == stage, now - state.toldAt < Self.interval { return }
        state.toldAt = now
        tell(progress)
      }
    }
  }

  /// Takes the line away. To be called before the command says anything else.
  func finish() { line.finish() }

  private static func name(of progress: MigrationProgress) -> String {
    "\(progress.line) \(progress.migration), step \(progress.step) of \(progress.steps)"
  }

  private func draw(_ progress: MigrationProgress, _ state: State, _ now: ContinuousClock.Instant) {
    var note: String?
    let seconds = (now - state.startedAt) / .seconds(1)
    let done = progress.done - state.doneAtStart
    if done > 0, seconds >= 0.5 {
      let rate = Double(done) / seconds
      note = "\(Formatting.count(Int64(rate)))/s"
      if progress.total > progress.done {
        let left = Duration.seconds(Double(progress.total - progress.done) / rate)
        note? += "  \(Formatting.duration(left)) left"
      }
    }
    line.update(
      "\(Self.name(of: progress)): \(progress.text), \(progress.stage.rawValue)",
      done: progress.done, of: progress.total > 0 ? progress.total : nil, note: note)
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

  private func tell(_ progress: MigrationProgress) {
    let event = Event(
      line: progress.line, migration: progress.migration, step: progress.step,
      steps: progress.steps, text: progress.text, stage: progress.stage.rawValue,
      done: progress.done, total: progress.total > 0 ? progress.total : nil,
      longestWaitSeconds: progress.longestWait / .seconds(1))
    do {
      Message.write(try JSONText.of(event))
    } catch {
      Message.say("\(error)")
    }
  }
}
