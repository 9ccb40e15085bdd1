import Console
import Dispatch
import EntityStore
import Foundation
import Maintenance
import Synchronization

/// Runs the copy of a store as a command: with progress, and until Ctrl-C.
struct CopyRunner {
  let isQuiet: Bool

  private struct Interrupt: Error {}

  /// - Throws: What the body throws; exit status 130 after an interrupt, which is then said.
  func run<R>(_ body: ((CopyProgress) throws -> Void) throws -> R) throws -> R {
    let start = ContinuousClock.now
    let line = ProgressLine.standardError(
      isQuiet: isQuiet, environment: ProcessInfo.processInfo.environment,
      now: { ContinuousClock.now - start })
    defer { line.finish() }
    let interrupts = Interrupts()
    defer { interrupts.end() }
    do {
      return try body { progress in
        // The copy ends here, and removes its half.
        if interrupts.hasCome { throw Interrupt() }
        show(progress, on: line)
      }
    } catch is Interrupt {
      line.finish()
      Message.say("interrupted; nothing was changed")
      throw ExitStatus.interrupted.exitCode
    }
  }

  private func show(_ progress: CopyProgress, on line: ProgressLine) {
    switch progress {
    case .copying(let bytes, let total):
      line.update("copying bytes", done: Int64(bytes), of: Int64(total))
    case .checking(let bytes):
      line.finish()
      line.update("checking bytes", done: Int64(bytes))
    }
  }
}

/// Ctrl-C, noted instead of ending the process.
private struct Interrupts {
  private let source: any DispatchSourceSignal
  private let flag: Flag

  private final class Flag: Sendable {
    let isRaised = Atomic(false)
  }

  var hasCome: Bool { flag.isRaised.load(ordering: .relaxed) }

  init() {
    let flag = Flag()
    self.flag = flag
    source = DispatchSource.makeSignalSource(
      signal: SIGINT, queue: DispatchQueue(label: "interrupt"))
    let registered = DispatchSemaphore(value: 0)
    source.setRegistrationHandler { registered.signal() }
    source.setEventHandler { flag.isRaised.store(true, ordering: .relaxed) }
    source.resume()
    registered.wait()
  }

  func end() { source.cancel() }
}
