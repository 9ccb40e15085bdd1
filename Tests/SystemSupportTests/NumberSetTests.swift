import SystemSupport
import TestSupport
import Testing

@Suite struct NumberSetTests {
  @Test(arguments: [1, 2] as [UInt64])
  func membersAreTheNumbersThatWereInserted(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var set = NumberSet()
    var model: Set<Int64> = []
    for _ in 0..<2_000 {
      let range: ClosedRange<Int64> = Bool.random(using: &random) ? -9_000...9_000 : .min ... .max
      let number = Int64.random(in: range, using: &random)
      #expect(set.insert(number) == model.insert(number).inserted)
      #expect(set.contains(number))
      let other = Int64.random(in: -9_000...9_000, using: &random)
      #expect(set.contains(other) == model.contains(other))
    }
    #expect(set.count == model.count)
  }
}
