/// A set of whole numbers, such as record ids or page numbers, with one bit for each.
///
/// The bits are in blocks of 4,096 numbers, and only blocks that contain a number take memory.
package struct NumberSet: Sendable {
  private static let emptyBlock = [UInt64](repeating: 0, count: 64)
  private var blocks: [Int64: [UInt64]] = [:]
  /// The number of members.
  package private(set) var count = 0

  package init() {}

  package func contains(_ number: Int64) -> Bool {
    guard let block = blocks[number >> 12] else { return false }
    return block[Self.word(of: number)] & Self.bit(of: number) != 0
  }

  /// Adds a number.
  ///
  /// - Returns: False if the set contains it already.
  @discardableResult
  package mutating func insert(_ number: Int64) -> Bool {
    let (word, bit) = (Self.word(of: number), Self.bit(of: number))
    func insert(into block: inout [UInt64]) -> Bool {
      if block[word] & bit != 0 { return false }
      block[word] |= bit
      return true
    }
    let isNew = insert(into: &blocks[number >> 12, default: Self.emptyBlock])
    if isNew { count += 1 }
    return isNew
  }

  private static func word(of number: Int64) -> Int { Int(number & 0xfff) >> 6 }

  private static func bit(of number: Int64) -> UInt64 { 1 << UInt64(number & 63) }
}
