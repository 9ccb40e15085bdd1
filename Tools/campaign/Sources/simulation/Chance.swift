import Foundation
import Synchronization
import TestSupport

/// The random decisions of a simulation, in one sequence.
final class Chance: Sendable {
  private let random: Mutex<SeededRandom>

  init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

  func number(_ range: ClosedRange<Int>) -> Int {
    random.withLock { Int.random(in: range, using: &$0) }
  }

  /// A number in 0 ..< 1.
  func share() -> Double { random.withLock { Double.random(in: 0..<1, using: &$0) } }

  /// True in one of so many cases.
  func one(in count: Int) -> Bool { number(1...count) == 1 }

  func pick<T>(_ values: [T]) -> T { values[number(0...values.count - 1)] }

  /// A duration around a mean, most often shorter, at most ten times as long.
  func wait(mean milliseconds: Int) -> Int {
    Int(min(10, -log(1 - share())) * Double(milliseconds)) + 1
  }
}
