/// Sorts keys.
enum KeyOrder {
  /// Returns the numbers sorted by their keys; numbers with equal keys in ascending order. Numbers
  /// that come in few sorted runs are sorted in linear time.
  ///
  /// - Parameter numbers: 0 up to their count, in any order.
  /// - Parameter key: Returns the key of a number, the same in each call.
  @inline(__always)
  static func sorted(_ numbers: [Int], key: (Int) -> UnsafeRawBufferPointer) -> [Int] {
    guard numbers.count > 1 else { return numbers }
    let shared = sharedPrefix(numbers.count, key)
    var ranks = numbers.map { (word: word(of: key($0), at: shared), number: $0) }
    ranks.sort { left, right in
      if left.word != right.word { return left.word < right.word }
      let comparison = compare(key(left.number), key(right.number))
      return comparison == 0 ? left.number < right.number : comparison < 0
    }
    return ranks.map(\.number)
  }

  /// Returns the length of the prefix that all keys share: a tag, for example, or the beginning of
  /// a text that all ids have.
  @inline(__always)
  private static func sharedPrefix(_ count: Int, _ key: (Int) -> UnsafeRawBufferPointer) -> Int {
    let first = key(0)
    var shared = first.count
    for number in 1..<count {
      let other = key(number)
      shared = min(shared, other.count)
      var same = 0
      while same < shared, first[same] == other[same] { same += 1 }
      shared = same
      if shared == 0 { break }
    }
    return shared
  }

  /// Returns the eight bytes after the shared prefix, which decide most comparisons. Bytes after
  /// the end of the key are read as zero; if the words are equal, the whole keys are compared.
  @inline(__always)
  private static func word(of key: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    let count = key.count - offset
    if count >= 8 {
      return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    var word: UInt64 = 0
    for byte in key[offset...] { word = word << 8 | UInt64(byte) }
    return count == 0 ? 0 : word << UInt64(8 * (8 - count))
  }
}
