import Foundation
import Mooring
import Synchronization

/// When the parts of an import came to their end, by what it says of its progress, and the memory
/// it held then.
final class ImportStages: Sendable {
  private struct State {
    var ends: [ImportProgress.Stage: Double] = [:]
    var memory = 0
  }

  private let clock = ContinuousClock()
  private let start = ContinuousClock.now
  private let memoryBefore: Int
  private let state = Mutex(State())

  init() throws { memoryBefore = try ownMemory() }

  func note(_ progress: ImportProgress) {
    let elapsed = (ContinuousClock.now - start).seconds
    let memory = (try? ownMemory()) ?? 0
    state.withLock {
      $0.ends[progress.stage] = elapsed
      $0.memory = max($0.memory, memory)
    }
  }

  /// Seconds until the last row was written, among them those for the copy and its check.
  var objects: Double { state.withLock { $0.ends[.objects] } ?? .nan }

  /// Seconds from then until the last row was read back.
  var verification: Double { (state.withLock { $0.ends[.verification] } ?? .nan) - objects }

  /// Bytes of its own memory, without the pages of the mapped store, above those at the beginning:
  /// the greatest of the looks after each chunk.
  var memory: Int { max(0, state.withLock { $0.memory } - memoryBefore) }
}
