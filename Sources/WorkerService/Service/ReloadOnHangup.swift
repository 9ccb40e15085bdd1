public import ServiceLifecycle
import UnixSignals

/// Reads a worker's settings anew at each SIGHUP, which is what `systemctl reload` sends.
public struct ReloadOnHangup: Service {
  private let worker: Worker

  public init(_ worker: Worker) { self.worker = worker }

  public func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      await worker.reload()
    }
  }
}
