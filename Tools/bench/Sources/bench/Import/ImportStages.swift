import Foundation
import Mooring
import Synchronization

/// The times at which the stages of an import ended, and its memory, recorded from its reports of
/// progress.
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

  /// Records the time and the memory of a report.
  func record(_ progress: ImportProgress) {
    let elapsed = (ContinuousClock.now - start).seconds
    let memory = (try? ownMemory()) ?? 0
    state.withLock {
      $0.ends[progress.stage] = elapsed
      $0.memory = max($0.memory, memory)
    }
  }

  /// The seconds until the last row was written, including the copy of the file and its check.
  var objects: Double { state.withLock { $0.ends[.objects] } ?? .nan }

  /// The seconds from then until the last row was read back.
  var verification: Double { (state.withLock { $0.ends[.verification] } ?? .nan) - objects }

  /// The largest growth of the process's own memory in bytes, without the pages of the mapped
  /// store, sampled after each chunk.
  var memory: Int { max(0, state.withLock { $0.memory } - memoryBefore) }
}
