import CMooringXXHash

/// One way to tell the items of a feed apart.
struct IdentityLevel: Sendable {
  var pointers: [JSONPointer]
  /// A hash of all the values, in place of the value itself.
  var isHash: Bool

  /// The name under which the store remembers that it was chosen.
  var text: String { pointers.map(\.description).joined(separator: " ") }

  /// - Returns: `nil` for a node that has nothing there.
  func identity(of node: JSONValue) -> String? {
    guard isHash else {
      for pointer in pointers {
        if let text = pointer.value(in: node).flatMap(Self.text) { return text }
      }
      return nil
    }
    let parts = pointers.map { $0.value(in: node).flatMap(Self.text) }
    guard parts.contains(where: { $0 != nil }) else { return nil }
    let joined = parts.map { $0 ?? "" }.joined(separator: "\0")
    let digits = String(UInt64(bitPattern: TextHash.of(joined)), radix: 16)
    return "xxh3:" + String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// A text that is not empty, or a number digit for digit.
  static func text(_ value: JSONValue) -> String? {
    switch value.kind {
    case .string where !value.textBytes.isEmpty, .int64, .double, .unrepresentable: value.text
    default: nil
    }
  }
}

/// What the items of one document would be called, by each level.
struct IdentityCandidates {
  private let levels: [IdentityLevel]
  /// For each item one for each level.
  private var candidates: [[String?]] = []

  init(_ levels: [IdentityLevel]) { self.levels = levels }

  /// - Returns: Whether the item has one at all.
  mutating func add(_ node: JSONValue) -> Bool {
    let identities = levels.map { $0.identity(of: node) }
    guard identities.contains(where: { $0 != nil }) else { return false }
    candidates.append(identities)
    return true
  }

  /// The level that was chosen before, or else the first that tells as many items apart as any
  /// other, but for one in ten: publishers do list an item twice.
  ///
  /// - Parameter text: `IdentityLevel.text` of the earlier choice.
  func choice(before text: String?) -> Int {
    if let text, let level = levels.firstIndex(where: { $0.text == text }) { return level }
    let counts = levels.indices.map { level in Set(identities(from: level)).count }
    let most = counts.max() ?? 0
    return counts.firstIndex { $0 * 10 >= most * 9 } ?? 0
  }

  /// Of each item the identity of that level, or of the next that it has; else of the last before.
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
