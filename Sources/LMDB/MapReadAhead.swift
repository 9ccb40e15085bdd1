import Glibc
import SystemSupport

/// Whether the kernel reads ahead of page faults in the map of an environment.
///
/// It does not (MDB_NORDAHEAD), as most reads are of single pages anywhere in the file, and each
/// fault would bring in its surroundings: of a store that is not in memory the first page took ten
/// times as long. Who walks through a whole tree would wait for page after page, though, which
/// takes forty times as long; so it is on while somebody does.
final class MapReadAhead: Sendable {
  /// Steps of a cursor from which on its walk is a long one: beside them two system calls count
  /// for nothing.
  static let stepsMin = 1_024

  private struct State {
    var walks = 0
    /// Looked up by the first walk; empty if the kernel does not tell it.
    var map: Range<UInt>?
  }

  private let state = Locked(State())

  /// Begins a long walk; to be ended.
  func begin(in environment: Environment) {
    state.withLock { state in
      if state.map == nil { state.map = Self.map(of: environment) }
      state.walks += 1
      if state.walks == 1 { Self.advise(MADV_NORMAL, state.map) }
    }
  }

  func end() {
    state.withLock { state in
      state.walks -= 1
      if state.walks == 0 { Self.advise(MADV_RANDOM, state.map) }
    }
  }

  private static func map(of environment: Environment) -> Range<UInt> {
    do throws(StorageError) {
      return try FaultGuard.mapRange(of: environment)
    } catch {
      // A system without /proc: what is not in memory is read page by page there.
      return 0..<0
    }
  }

  private static func advise(_ advice: Int32, _ map: Range<UInt>?) {
    guard let map, let start = UnsafeMutableRawPointer(bitPattern: map.lowerBound) else { return }
    // SAFETY: the range is the map, which stays while the environment is open; the advice changes
    // nothing of what is read in it.
    madvise(start, map.count, advice)
  }
}
