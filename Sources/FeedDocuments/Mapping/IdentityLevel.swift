import CMooringXXHash

/// One way to identify the items of a feed.
struct IdentityLevel: Sendable {
  var pointers: [JSONPointer]
  /// True if the id is a hash of all the values, not the first value itself.
  var isHash: Bool

  /// The name that the store saves when this level is chosen.
  var text: String { pointers.map(\.description).joined(separator: " ") }

  /// Returns the node's id; nil if it has none of the values.
  func identity(of node: JSONValue) -> String? {
    guard isHash else { return pointers.firstText(in: node) }
    let parts = pointers.map { $0.value(in: node).flatMap(Self.text) }
    guard parts.contains(where: { $0 != nil }) else { return nil }
    let joined = parts.map { $0 ?? "" }.joined(separator: "\0")
    let digits = String(UInt64(bitPattern: TextHash.of(joined)), radix: 16)
    return "xxh3:" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Returns a text that is not empty, or a number digit by digit; nil for other values.
  static func text(_ value: JSONValue) -> String? {
    switch value.kind {
    case .string where !value.textBytes.isEmpty, .int64, .double, .unrepresentable: value.text
    default: nil
    }
  }
}

/// The ids that the items of one document would have at each level.
struct IdentityCandidates {
  private let levels: [IdentityLevel]
  /// The ids of each item, one for each level.
  private var candidates: [[String?]] = []

  init(_ levels: [IdentityLevel]) { self.levels = levels }

  /// Adds an item. Returns false if it has no id at any level.
  mutating func add(_ node: JSONValue) -> Bool {
    let identities = levels.map { $0.identity(of: node) }
    guard identities.contains(where: { $0 != nil }) else { return false }
    candidates.append(identities)
    return true
  }

  /// Returns the level that was chosen earlier, or else the first one whose number of different ids
  /// is at least nine tenths of the largest: publishers do list an item twice.
  ///
  /// - Parameter text: `IdentityLevel.text` of the earlier choice.
  func choice(before text: String?) -> Int {
    if let text, let level = levels.firstIndex(where: { $0.text == text }) { return level }
    let counts = levels.indices.map { level in Set(identities(from: level)).count }
    let most = counts.max() ?? 0
    return counts.firstIndex { $0 * 10 >= most * 9 } ?? 0
  }

  /// Returns each item's id at that level; if it has none there, at the next level that it has, or
  /// else at the nearest one before.
  func identities(from level: Int) -> [String] {
    candidates.map { item in
      (item[level...].lazy + item[..<level].reversed()).compactMap { $0 }.first ?? ""
    }
  }

  func name(of level: Int) -> String { levels[level].text }
}

/// The hash by which texts are recognized as unchanged: XXH3, 64 bits, stable across versions.
enum TextHash {
  static func of(_ text: String) -> Int64 {
    var text = text
    return text.withUTF8 { Int64(bitPattern: mooring_xxh3_64($0.baseAddress, $0.count)) }
  }
}
