import Console
import Foundation
import Synchronization

/// How far something long is, as the command tells it.
struct StageReport {
  /// Another one is another stage, which has a rate of its own.
  let stage: String
  /// On a terminal.
  let title: String
  /// Elsewhere, once until there is another one; `nil` says nothing.
  let message: String?
  let done: Int64
  /// 0 if that is not known.
  let total: Int64
  /// The same for machines.
  let event: any Encodable
}

/// Tells on standard error how far something long is: as a line that is drawn again and again on a
/// terminal, with messages elsewhere, or as lines of JSON.
final class StageReporter: Sendable {
  private enum Form {
    case silent, line, messages, json
  }

  private struct State {
    var stage: String?
    var message: String?
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

  func report(_ report: StageReport) {
    if form == .silent { return }
    state.withLock { state in
      let now = ContinuousClock.now
      let isNew = state.stage != report.stage
      if isNew {
        state = State(
          stage: report.stage, message: state.message, startedAt: now, doneAtStart: report.done,
          toldAt: now)
      }
      switch form {
      case .silent: break
      case .line:
        let pace = ProgressPace(since: state.startedAt, from: state.doneAtStart)
        line.update(
          report.title, done: report.done, of: report.total > 0 ? report.total : nil,
          note: pace.text(done: report.done, of: report.total, at: now))
      case .messages:
        guard let message = report.message, message != state.message else { return }
        state.message = message
        Message.say(message)
      case .json:
        if !isNew, now - state.toldAt < Self.interval { return }
        state.toldAt = now
        tell(report.event)
      }
    }
  }

  /// Takes the line away. To be called before the command says anything else.
  func finish() { line.finish() }

  private func tell(_ event: any Encodable) {
    do {
      Message.write(try JSONText.of(event))
    } catch {
      Message.say("\(error)")
    }
  }
}

extension StageReporter {
  /// Runs a body that blocks, until Ctrl-C, and ends the reports.
  ///
  /// - Parameter afterInterrupt: Said then: what is left, and what goes on.
  /// - Throws: What the body throws; exit status 130 after an interrupt, which is then said.
  func run<R: Sendable>(
    until interrupt: Interrupt, afterInterrupt: String, _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    do {
      let result = try await interrupt.watching(body)
      finish()
      return result
    } catch {
      finish()
      // Who waits for another run or writer when the wish comes has waited in vain.
      let isBusy = (error as? any ExitStatusProviding)?.exitStatus == .tryAgain
      guard interrupt.isWanted, isBusy || error is CancellationError else { throw error }
      Message.say("stopped; \(afterInterrupt)")
      throw ExitStatus.interrupted.exitCode
    }
  }
}
