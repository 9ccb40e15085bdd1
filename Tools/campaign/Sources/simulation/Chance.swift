import Foundation
import Synchronization

/// The random decisions of a simulation, in one sequence.
final class Chance: Sendable {
  private let random: Mutex<SplitMix>

  init(seed: UInt64) { random = Mutex(SplitMix(state: seed)) }

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

/// SplitMix64 (Steele, Lea, Flood 2014): the same seed gives the same numbers everywhere.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
