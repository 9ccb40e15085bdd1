internal import Dispatch
internal import Foundation
internal import Synchronization
internal import SystemSupport

/// The progress of a stage of a long command.
public struct StageReport {
  /// A different stage has a rate of its own.
  public let stage: String
  /// The label on a terminal.
  public let title: String
  /// The message without a terminal, written once until it changes; nil writes none.
  public let message: String?
  public let done: Int64
  /// 0 if it is not known.
  public let total: Int64
  /// The line of JSON for programs.
  public let event: any Encodable

  public init(
    stage: String, title: String, message: String?, done: Int64, total: Int64, event: any Encodable
  ) {
    self.stage = stage
    self.title = title
    self.message = message
    self.done = done
    self.total = total
    self.event = event
  }
}

/// Runs the long work of a command until it is done or interrupted, with progress on standard
/// error.
///
/// The first Ctrl-C or SIGTERM asks the work to end. The second one ends the process at once with
/// status 130, which loses no more than a kill does. Any thread may report progress.
public final class LongCommand: Sendable {
  private enum Form {
    case silent, line, messages, json
  }

  private struct Stage {
    var name: String?
    var message: String?
    var startedAt = ContinuousClock.now
    var doneAtStart: Int64 = 0
    var reportedAt = ContinuousClock.now
  }

  /// The time between two lines of JSON of one stage.
  private static let interval = Duration.milliseconds(500)

  private let form: Form
  private let line: ProgressLine
  private let stage = Locked(Stage())
  private let interrupts = Atomic(0)
  private let cancelWork = Locked<(@Sendable () -> Void)?>(nil)

  /// - Parameter isJSON: True if programs read standard error, too.
  public init(isQuiet: Bool, isJSON: Bool = false) {
    line = .standardError(isQuiet: isQuiet)
    form = isQuiet ? .silent : isJSON ? .json : line.isDrawn ? .line : .messages
  }

  /// True after the first signal. Blocking work asks for it between its chunks.
  public var isInterrupted: Bool { interrupts.load(ordering: .relaxed) > 0 }

  /// True without a terminal, unless the command is quiet: there a command writes lines instead.
  public var writesMessages: Bool { form == .messages }

  /// Throws `CancellationError` after the first signal.
  public func checkInterrupt() throws {
    if isInterrupted { throw CancellationError() }
  }

  /// Runs work whose task is cancelled by an interrupt, and takes the progress line away.
  ///
  /// - Parameter afterInterrupt: The message after an interrupt: what is left, and how to continue.
  /// - Throws: What the work throws; exit status 130 if it ends because of an interrupt.
  public func run<R: Sendable>(
    afterInterrupt: String, _ work: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    defer { finish() }
    do {
      return try await watchingSignals(work)
    } catch {
      // Work that waits for another process ends with `tryAgain` when it is asked to end.
      let isBusy = (error as? any ExitStatusProviding)?.exitStatus == .tryAgain
      guard error is CancellationError || (isInterrupted && isBusy) else { throw error }
      finish()
      Message.say("interrupted; \(afterInterrupt)")
      throw ExitStatus.interrupted.exitCode
    }
  }

  /// Runs blocking work, which must poll `isInterrupted`, and takes the progress line away.
  ///
  /// The work has a thread of its own: it may take hours, and the threads of tasks are few.
  ///
  /// - Parameter afterInterrupt: The message after an interrupt: what is left, and how to continue.
  /// - Throws: What the work throws; exit status 130 if it ends because of an interrupt.
  public func runBlocking<R: Sendable>(
    afterInterrupt: String, _ work: @escaping @Sendable () throws -> R
  ) async throws -> R {
    try await run(afterInterrupt: afterInterrupt) {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
      }
    }
  }

  /// Runs the work in a task that the first signal cancels.
  ///
  /// The task begins after the signals are watched: a signal during the work never has the
  /// system's default effect, which is to kill the process.
  private func watchingSignals<R: Sendable>(
    _ work: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let queue = DispatchQueue(label: "interrupt")
    let sources = [SIGINT, SIGTERM].map {
      DispatchSource.makeSignalSource(signal: $0, queue: queue)
    }
    defer { for source in sources { source.cancel() } }
    for source in sources {
      source.setEventHandler { [self] in interrupt() }
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
    }
    let task = Task { try await work() }
    cancelWork.withLock { $0 = { task.cancel() } }
    if isInterrupted { task.cancel() }
    return try await task.value
  }

  private func interrupt() {
    let (earlier, _) = interrupts.add(1, ordering: .relaxed)
    if earlier > 0 { _exit(ExitStatus.interrupted.rawValue) }
    cancelWork.withLock { $0 }?()
  }
}

extension LongCommand {
  /// Shows progress on a terminal: `episodes  1,200 of 5,000  24 %`.
  public func report(_ label: String, done: Int64, of total: Int64? = nil, note: String? = nil) {
    line.update(label, done: done, of: total, note: note)
  }

  /// Shows the progress of a stage: as a line on a terminal, as messages elsewhere, or as JSON.
  public func report(_ report: StageReport) {
    if form == .silent { return }
    stage.withLock { stage in
      let now = ContinuousClock.now
      let isNew = stage.name != report.stage
      if isNew {
        stage = Stage(
          name: report.stage, message: stage.message, startedAt: now, doneAtStart: report.done,
          reportedAt: now)
      }
      switch form {
      case .silent: break
      case .line:
        let rate = ProgressRate(
          done: report.done - stage.doneAtStart, left: report.total - report.done,
          time: now - stage.startedAt)
        line.update(
          report.title, done: report.done, of: report.total > 0 ? report.total : nil,
          note: rate.text)
      case .messages:
        guard let message = report.message, message != stage.message else { return }
        stage.message = message
        Message.say(message)
      case .json:
        if !isNew, now - stage.reportedAt < Self.interval { return }
        stage.reportedAt = now
        do {
          Message.write(try JSONText.of(report.event))
        } catch {
          Message.say("\(error)")
        }
      }
    }
  }

  /// Takes the progress line away. To be called before the command writes anything else.
  public func finish() { line.finish() }
}

/// The speed of a stage.
private struct ProgressRate {
  let done: Int64
  let left: Int64
  let time: Duration

  /// `48,000/s  12 s left`, or nil after less than half a second.
  var text: String? {
    let seconds = time / .seconds(1)
    guard done > 0, seconds >= 0.5 else { return nil }
    let rate = Double(done) / seconds
    let text = "\(Formatting.count(Int64(rate)))/s"
    if left <= 0 { return text }
    return text + "  \(Formatting.duration(.seconds(Double(left) / rate))) left"
  }
}
