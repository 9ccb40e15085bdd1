/// A set of small whole numbers, one bit for each up to the greatest.
struct NumberSet {
  private var words: [UInt64] = []

  mutating func insert(_ number: Int64) {
    guard number >= 0 else { return }
    let word = Int(number >> 6)
    if word >= words.count {
      words.append(contentsOf: repeatElement(0, count: word + 1 - words.count))
    }
    words[word] |= 1 << UInt64(number & 63)
  }

  func contains(_ number: Int64) -> Bool {
    let word = Int(number >> 6)
    return number >= 0 && word < words.count && words[word] & 1 << UInt64(number & 63) != 0
  }
}
