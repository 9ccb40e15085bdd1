import Glibc
import SystemSupport

/// Turns the kernel's read-ahead in the map of an environment on and off.
///
/// It is normally off (MDB_NORDAHEAD). Most reads are of single pages anywhere in the file, and
/// each fault would also read the pages around it: for a store that is not in memory the first
/// fetched page took ten times as long. A walk through a whole tree, however, takes forty times as
/// long without read-ahead. So it is on while there is such a walk.
final class MapReadAhead: Sendable {
  /// The number of steps after which a cursor's walk counts as long. The cost of two system calls
  /// is then negligible.
  static let stepsMin = 1_024

  private struct State {
    var walks = 0
    /// The map, found by the first walk; empty if the kernel does not report it.
    var map: Range<UInt>?
  }

  private let state = Locked(State())

  /// Begins a long walk, which must be ended.
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
    // On a system without /proc, pages that are not in memory are read one by one.
    (try? FaultGuard.mapRange(of: environment)) ?? 0..<0
  }

  private static func advise(_ advice: Int32, _ map: Range<UInt>?) {
    guard let map, let start = UnsafeMutableRawPointer(bitPattern: map.lowerBound) else { return }
    // SAFETY: the range is the map, which stays while the environment is open; the advice does not
    // change the content that is read.
    madvise(start, map.count, advice)
  }
}
