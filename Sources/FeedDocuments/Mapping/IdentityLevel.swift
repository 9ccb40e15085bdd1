import CMooringXXHash

/// One way to identify the items of a feed.
package struct IdentityLevel: Sendable {
  var pointers: [JSONPointer]
  /// True if the id is a hash of all the values, not the first value itself.
  var isHash: Bool
  /// True if the level is only for items that have no id at any other one.
  var isFallback = false
  /// True if the hash needs all the values.
  var needsAll = false

  /// The name that the store saves when this level is chosen.
  var text: String { pointers.map(\.description).joined(separator: " ") }

  /// Returns the node's id; nil if it has none of the values.
  func identity(of node: JSONValue) -> String? {
    guard isHash else { return pointers.itemID(in: node) }
    let parts = pointers.map { part(at: $0, of: node).flatMap(Self.text) }
    guard parts.contains(where: { $0 != nil }), !needsAll || !parts.contains(nil) else {
      return nil
    }
    let joined = parts.map { $0 ?? "" }.joined(separator: "\0")
    return Self.hashPrefix + UInt64(bitPattern: TextHash.of(joined)).sixteenDigits
  }

  private static let hashPrefix = "xxh3:"

  /// Returns true for an id that is a hash of values. That of a long id has more digits.
  package static func isHash(_ id: String) -> Bool {
    id.hasPrefix(hashPrefix) && id.utf8.count == hashPrefix.utf8.count + 16
  }

  /// Returns a value of a hash. A date that is read better than by earlier versions stays as they
  /// read it, so that stored items keep their ids.
  private func part(at pointer: JSONPointer, of node: JSONValue) -> JSONValue? {
    if pointer == Self.published, let date = node[FeedView.dateInID] { return date }
    return pointer.value(in: node)
  }

  private static let published = JSONPointer(tokens: ["date_published"])

  /// Returns a text that is not empty, or a number digit by digit; nil for other values.
  static func text(_ value: JSONValue) -> String? {
    switch value.kind {
    case .string where !value.textBytes.isEmpty, .int64, .double, .unrepresentable: value.text
    default: nil
    }
  }
}

extension [JSONPointer] {
  /// Returns the first text or number that a pointer leads to, as an id. An id that is too long for
  /// the store is replaced by a hash of it: in 128 bits two ids of one feed practically never have
  /// the same one.
  func itemID(in node: JSONValue) -> String? {
    for pointer in self {
      guard let text = pointer.value(in: node).flatMap(IdentityLevel.text) else { continue }
      return text.utf8.count <= DocumentLimits.idBytesMax
        ? text : "xxh3:" + TextHash.digits(of: text)
    }
    return nil
  }
}

extension UInt64 {
  fileprivate var sixteenDigits: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// The ids that the items of one document would have at each level.
struct IdentityCandidates {
  /// The levels of which one is chosen.
  private let levels: [IdentityLevel]
  private let fallbacks: [IdentityLevel]
  /// The ids of each item, one for each level, and that of the first fallback that it has.
  private var candidates: [(ids: [String?], fallback: String?)] = []

  init(_ levels: [IdentityLevel]) {
    self.levels = levels.filter { !$0.isFallback }
    fallbacks = levels.filter(\.isFallback)
  }

  /// Adds an item. Returns false if it has no id at any level.
  mutating func add(_ node: JSONValue) -> Bool {
    let ids = levels.map { $0.identity(of: node) }
    var fallback: String?
    if !ids.contains(where: { $0 != nil }) {
      fallback = fallbacks.lazy.compactMap { $0.identity(of: node) }.first
      guard fallback != nil else { return false }
    }
    candidates.append((ids, fallback))
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
  /// else at the nearest one before, or that of the fallback.
  func identities(from level: Int) -> [String] {
    candidates.map { item in
      (item.ids[level...].lazy + item.ids[..<level].reversed()).compactMap { $0 }.first
        ?? item.fallback ?? ""
    }
  }

  func name(of level: Int) -> String { levels[level].text }
}

/// The hash by which texts are recognized: XXH3, stable across versions.
enum TextHash {
  static func of(_ text: String) -> Int64 {
    var text = text
    return text.withUTF8 { Int64(bitPattern: mooring_xxh3_64($0.baseAddress, $0.count)) }
  }

  /// Returns the hash of 128 bits in hexadecimal digits.
  static func digits(of text: String) -> String {
    var text = text
    let hash = text.withUTF8 { mooring_xxh3_128($0.baseAddress, $0.count) }
    return hash.high.sixteenDigits + hash.low.sixteenDigits
  }
}
