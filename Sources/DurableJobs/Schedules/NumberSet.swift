/// Numbers from 0 to 63.
struct NumberSet: Sendable, Hashable {
  private var bits: UInt64 = 0

  mutating func insert(_ number: Int) {
    bits |= 1 << UInt64(number)
  }

  func contains(_ number: Int) -> Bool {
    bits & (1 << UInt64(number)) != 0
  }

  func least(from number: Int) -> Int? {
    let rest = bits >> UInt64(number)
    return rest == 0 ? nil : number + rest.trailingZeroBitCount
  }

  var count: Int { bits.nonzeroBitCount }
}
