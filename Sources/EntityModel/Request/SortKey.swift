/// One sort key. Null comes first in ascending order and last in descending order.
public struct SortKey: Codable, Hashable, Sendable, CustomStringConvertible {
  /// An attribute, or one of a record at the end of to-one relationships: `path.title`.
  public var path: String
  public var isDescending: Bool
  public var collation: Collation

  public init(_ path: String, descending: Bool = false, collation: Collation = .binary) {
    self.path = path
    self.isDescending = descending
    self.collation = collation
  }

  /// The same key in the other direction (`reversedSortDescriptor`).
  public var reversed: SortKey { SortKey(path, descending: !isDescending, collation: collation) }

  public var description: String {
    let words = [path, collation == .binary ? nil : collation.text, isDescending ? "desc" : nil]
    return words.compactMap { $0 }.joined(separator: " ")
  }

  /// Reads a key as `description` writes it; `asc` is accepted for the ascending direction.
  ///
  /// - Returns: `nil` for anything else.
  public init?(text: String) {
    var words = text.split(separator: " ")
    guard !words.isEmpty else { return nil }
    path = String(words.removeFirst())
    isDescending = words.last == "desc"
    if words.last == "desc" || words.last == "asc" { words.removeLast() }
    collation = .binary
    guard let word = words.first else { return }
    guard words.count == 1, let named = Collation(text: String(word)) else { return nil }
    collation = named
  }
}
