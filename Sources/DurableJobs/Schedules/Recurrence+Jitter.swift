public import Foundation

extension Recurrence {
  /// How long after its time a run begins: from zero through `jitter`, in whole milliseconds.
  ///
  /// It comes from the name and the time alone, so that all processes and versions agree.
  public func jitter(of time: Date, named name: String) -> Duration {
    let (seconds, attoseconds) = jitter.components
    let limit = UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
    let second = UInt64(bitPattern: Int64(WholeSecond.floor(of: time)))
    let share = mixed(fnv1a(name.utf8) ^ mixed(second))
    return .milliseconds(Int64(share.multipliedFullWidth(by: limit + 1).high))
  }
}

/// The 64-bit hash of Fowler, Noll and Vo.
private func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
  bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
}

/// The last step of SplitMix64, which makes each bit depend on all.
private func mixed(_ value: UInt64) -> UInt64 {
  var value = value &+ 0x9e37_79b9_7f4a_7c15
  value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
  value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
  return value ^ (value >> 31)
}
