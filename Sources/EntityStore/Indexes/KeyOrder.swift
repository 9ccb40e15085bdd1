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
    var ranks = numbers.map { Rank(word: word(of: key($0), at: shared), number: $0) }
    func precedes(_ left: Rank, _ right: Rank) -> Bool {
      if left.word != right.word { return left.word < right.word }
      let comparison = compare(key(left.number), key(right.number))
      return comparison == 0 ? left.number < right.number : comparison < 0
    }
    guard ranks.count >= radixMin, runs(in: ranks) > runsMax else {
      ranks.sort(by: precedes)
      return ranks.map(\.number)
    }
    sortByWord(&ranks)
    var start = 0
    while start < ranks.count {
      var end = start + 1
      while end < ranks.count, ranks[end].word == ranks[start].word { end += 1 }
      if end > start + 1 { ranks[start..<end].sort(by: precedes) }
      start = end
    }
    return ranks.map(\.number)
  }

  /// A key by its first distinctive bytes.
  private struct Rank {
    var word: UInt64
    var number: Int
  }

  /// The number of keys from which sorting by bytes takes less time than comparisons.
  private static let radixMin = 256
  /// So many sorted runs are merged faster.
  private static let runsMax = 4

  private static func runs(in ranks: [Rank]) -> Int {
    var runs = 1
    for place in 1..<ranks.count where ranks[place].word < ranks[place - 1].word { runs += 1 }
    return runs
  }

  /// Sorts by the words, byte by byte, beginning with the last one.
  private static func sortByWord(_ ranks: inout [Rank]) {
    let first = ranks[0].word
    let different = ranks.reduce(0) { $0 | ($1.word ^ first) }
    var sorted = ranks
    var places = [Int](repeating: 0, count: 256)
    for shift in stride(from: UInt64(0), to: 64, by: 8) where different >> shift & 0xFF != 0 {
      for byte in places.indices { places[byte] = 0 }
      for rank in ranks { places[Int(rank.word >> shift & 0xFF)] += 1 }
      var start = 0
      for byte in places.indices {
        let count = places[byte]
        places[byte] = start
        start += count
      }
      for rank in ranks {
        let byte = Int(rank.word >> shift & 0xFF)
        sorted[places[byte]] = rank
        places[byte] += 1
      }
      swap(&ranks, &sorted)
    }
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
