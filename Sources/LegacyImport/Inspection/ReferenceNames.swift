import EntityModel

/// Finds the tables that the name of a column may refer to.
struct ReferenceNames {
  private static let idWords: Set<String> = ["id", "fk", "ref", "uuid", "guid", "pk", "key"]
  /// Names of keys that say nothing about the table.
  private static let plainKeys: Set<String> = [
    "id", "pk", "key", "rowid", "uuid", "guid", "name", "url", "value", "title", "type", "zpk",
  ]
  /// The greatest number of candidates: more tables of one name are no evidence.
  private static let candidatesMax = 8

  /// The places of tables by their names in the singular, and by the names of their keys.
  private var byName: [String: [Int]] = [:]
  private var byKey: [String: [Int]] = [:]

  /// - Parameter tables: All tables. One without a key of a single column is no target.
  init(_ tables: [TableGuess]) {
    for (place, table) in tables.enumerated() {
      guard let key = table.onlyKeyColumn else { continue }
      for name in Self.names(of: table.table.name) { byName[name, default: []].append(place) }
      let keyName = NameWords(key).joined
      if !keyName.isEmpty, !Self.plainKeys.contains(keyName) {
        byKey[keyName, default: []].append(place)
      }
    }
  }

  /// Returns the tables that the column may refer to, the most likely one first: tables whose name
  /// it has, as in podcast_id and idFile; its own table for a parent; tables whose key has the name
  /// at its end, as in parent_node_id.
  ///
  /// - Parameter own: The place of the table that has the column.
  func candidates(for column: String, of own: Int) -> [Int] {
    let words = NameWords(column).words
    let stem = Self.stem(of: words).joined()
    var candidates = byName[Self.singular(stem)] ?? []
    if stem == "parent", words.count <= 2 { candidates.append(own) }
    for start in words.indices { candidates += byKey[words[start...].joined()] ?? [] }
    return Array(candidates.prefix(Self.candidatesMax))
  }

  /// Returns the words without the one that only says that it is a key. A name that consists of
  /// such words stays as it is.
  static func stem(of words: [String]) -> [String] {
    var stem = words[...]
    if let last = stem.last, idWords.contains(last) {
      stem.removeLast()
    } else if let first = stem.first, idWords.contains(first) {
      stem.removeFirst()
    }
    return stem.isEmpty ? words : Array(stem)
  }

  /// Returns `mozplace` and `place` for moz_places: a prefix is often that of a program.
  private static func names(of table: String) -> Set<String> {
    let words = NameWords(table).words
    return Set(words.indices.map { singular(words[$0...].joined()) })
  }

  private static func singular(_ word: String) -> String {
    if word.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
    return word.hasSuffix("s") && !word.hasSuffix("ss") && word.count > 2
      ? String(word.dropLast()) : word
  }
}
