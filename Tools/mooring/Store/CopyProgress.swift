import Console
import EntityStore
import Maintenance

extension LongCommand {
  /// Copies a store with progress until it is done or interrupted.
  ///
  /// An interrupt ends the copy at its next report, which removes the incomplete copy.
  ///
  /// - Throws: The errors of the body; exit status 130 after an interrupt.
  func copy<R: Sendable>(
    _ body: @escaping @Sendable (_ progress: (CopyProgress) throws -> Void) throws -> R
  ) async throws -> R {
    try await runBlocking(afterInterrupt: "nothing was changed") {
      try body { progress in
        try self.checkInterrupt()
        switch progress {
        case .copying(let bytes, let total):
          self.report("copying bytes", done: Int64(bytes), of: Int64(total))
        case .checking(let bytes):
          self.finish()
          self.report("checking bytes", done: Int64(bytes))
        }
      }
    }
  }
}
