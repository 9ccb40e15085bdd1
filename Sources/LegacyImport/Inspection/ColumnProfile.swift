import EntityModel

/// Statistics of the values of one column, collected in one pass.
struct ColumnProfile: Sendable {
  private(set) var nulls = 0
  private(set) var integers = 0
  private(set) var reals = 0
  /// The number of texts, including those that are not UTF-8.
  private(set) var texts = 0
  private(set) var badTexts = 0
  private(set) var blobs = 0
  private(set) var oversized = 0

  private(set) var leastInteger: Int64 = .max
  private(set) var greatestInteger: Int64 = .min
  private(set) var leastReal = Double.infinity
  private(set) var greatestReal = -Double.infinity
  /// The number of reals that are not whole.
  private(set) var fractions = 0
  /// The number of integers that a double would change.
  private(set) var integersBeyondDouble = 0
  private(set) var blobsOf16Bytes = 0
  /// The number of binary property lists, archives of NSKeyedArchiver among them.
  private(set) var propertyLists = 0
  private(set) var blobsNotUTF8 = 0

  private(set) var dates = DateVotes()
  private(set) var shapes = TextShapes()
  private(set) var distinct: DistinctCells

  /// - Parameter distinctMax: Distinct values that are kept.
  init(distinctMax: Int) { distinct = DistinctCells(countMax: distinctMax) }

  var values: Int { integers + reals + texts + blobs + oversized }
  var numbers: Int { integers + reals }

  mutating func add(_ cell: Cell) {
    switch cell {
    case .null:
      nulls += 1
      return
    case .integer(let number):
      integers += 1
      leastInteger = min(leastInteger, number)
      greatestInteger = max(greatestInteger, number)
      if Int64(exactly: Double(number)) != number { integersBeyondDouble += 1 }
      dates.add(Double(number))
    case .real(let number):
      reals += 1
      leastReal = min(leastReal, number)
      greatestReal = max(greatestReal, number)
      if number != number.rounded() { fractions += 1 }
      dates.add(number)
    case .text(let text):
      texts += 1
      shapes.add(text)
      if let number = Int64(text) { dates.add(Double(number)) }
    case .badText:
      texts += 1
      badTexts += 1
    case .blob(let bytes):
      blobs += 1
      if bytes.count == 16 { blobsOf16Bytes += 1 }
      if bytes.starts(with: Array("bplist00".utf8)) { propertyLists += 1 }
      if String(validating: bytes, as: UTF8.self) == nil { blobsNotUTF8 += 1 }
    case .oversized: oversized += 1
    }
    distinct.add(cell)
  }
}

/// The distinct values of a column with their numbers, up to a bound.
struct DistinctCells: Sendable {
  /// The greatest length of a text: a longer one is neither a code nor a key.
  private static let textBytesMax = 128

  private(set) var counts: [Cell: Int] = [:]
  /// True if every value of the column is among them.
  private(set) var isWhole = true
  private let countMax: Int

  init(countMax: Int) { self.countMax = countMax }

  mutating func add(_ cell: Cell) {
    switch cell {
    case .integer: break
    case .text(let text) where text.utf8.count <= Self.textBytesMax: break
    default:
      isWhole = false
      return
    }
    if counts[cell] == nil, counts.count >= countMax {
      isWhole = false
    } else {
      counts[cell, default: 0] += 1
    }
  }

  /// The values in an order that is the same in every run.
  var sorted: [(cell: Cell, count: Int)] {
    counts.map { (cell: $0.key, count: $0.value) }.sorted { left, right in
      switch (left.cell, right.cell) {
      case (.integer(let a), .integer(let b)): a < b
      case (.text(let a), .text(let b)): a < b
      case (.integer, _): true
      default: false
      }
    }
  }
}
