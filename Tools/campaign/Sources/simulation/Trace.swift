import Foundation
import Synchronization

/// The events of a simulation: the last lines, and a hash of all of them, by which two runs of
/// one seed are compared.
final class Trace: Sendable {
  private struct State {
    var lines: [String] = []
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    var count = 0
  }

  private static let linesMax = 20_000
  private let state = Mutex(State())
  private let clock: VirtualClock

  /// The folder of the store, which has another name in each run.
  private let folder: String

  init(clock: VirtualClock, folder: String) { (self.clock, self.folder) = (clock, folder) }

  var count: Int { state.withLock(\.count) }
  var hash: UInt64 { state.withLock(\.hash) }

  func add(_ text: String) {
    let wall = Int((clock.now.timeIntervalSince1970 * 1_000).rounded())
    let line = "\(clock.elapsed) \(wall) \(text)".replacing(folder, with: "STORE")
    state.withLock { state in
      state.count += 1
      for byte in line.utf8 { state.hash = (state.hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
      state.lines.append(line)
      if state.lines.count > 2 * Self.linesMax { state.lines.removeFirst(Self.linesMax) }
    }
  }

  /// Writes the last lines to a file, each with the elapsed milliseconds and the wall clock's.
  func write(to path: String, heading: String) throws {
    let text = state.withLock { $0.lines.suffix(Self.linesMax).joined(separator: "\n") }
    try "\(heading)\n\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
  }
}

/// An invariant that does not hold.
struct Violation: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
