import Console
import Dispatch
import Foundation
import Synchronization

/// The wish that a command end: Ctrl-C, or SIGTERM of a service manager.
final class Interrupt: Sendable {
  private let wishes = Atomic(0)

  var isWanted: Bool { wishes.load(ordering: .relaxed) > 0 }

  /// Notes signals for as long as a body runs, which blocks and looks at `isWanted`.
  ///
  /// It gets a thread of its own: it may last for hours, and the threads of tasks are few.
  func watching<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    let queue = DispatchQueue(label: "interrupt")
    let sources = [SIGINT, SIGTERM].map {
      DispatchSource.makeSignalSource(signal: $0, queue: queue)
    }
    defer { for source in sources { source.cancel() } }
    for source in sources {
      source.setEventHandler { [self] in note() }
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
    }
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }

  /// Who asks twice does not want to wait for the end of a chunk, or of a copy. A kill does no harm.
  private func note() {
    let (wishes, _) = wishes.add(1, ordering: .relaxed)
    if wishes > 0 { _exit(ExitStatus.interrupted.rawValue) }
  }
}
