import EntityModel

/// Finds the tables that the name of a column may refer to.
struct ReferenceNames {
  /// The relation of a column's name to a table, the strongest first.
  enum Match: CaseIterable {
    /// The column podcast_id or idFile, and the table podcasts or files.
    case wholeName
    /// The column parent, and its own table.
    case parent
    /// The column place_id, and the table moz_places.
    case endOfName
    /// The column parent_node_id, and a table with the key node_id.
    case key

    var text: String {
      switch self {
      case .wholeName: "its whole name"
      case .parent: "a parent in the same table"
      case .endOfName: "the end of its name"
      case .key: "its key's name"
      }
    }
  }

  struct Candidate {
    /// The place of the table.
    let place: Int
    let match: Match
  }

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
  /// The whole name of each table in the singular.
  private let wholeNames: [String]

  /// - Parameter tables: All tables. One without a key of a single column is no target.
  init(_ tables: [TableGuess]) {
    wholeNames = tables.map { Self.singular(NameWords($0.table.name).joined) }
    for (place, table) in tables.enumerated() {
      guard let key = table.onlyKeyColumn else { continue }
      for name in Self.names(of: table.table.name) { byName[name, default: []].append(place) }
      let keyName = NameWords(key).joined
      if !keyName.isEmpty, !Self.plainKeys.contains(keyName) {
        byKey[keyName, default: []].append(place)
      }
    }
  }

  /// Returns the tables that the column may refer to, the most likely one first.
  ///
  /// - Parameter own: The place of the table that has the column.
  func candidates(for column: String, of own: Int) -> [Candidate] {
    let words = NameWords(column).words
    let stem = Self.stem(of: words).joined()
    let name = Self.singular(stem)
    var candidates = (byName[name] ?? []).map { place in
      Candidate(place: place, match: wholeNames[place] == name ? .wholeName : .endOfName)
    }
    if stem == "parent", words.count <= 2 {
      candidates.append(Candidate(place: own, match: .parent))
    }
    for start in words.indices {
      let places = byKey[words[start...].joined()] ?? []
      // Of the tables with the key node_id, the one called node is more likely.
      let keyName = Self.singular(Self.stem(of: Array(words[start...])).joined())
      let named = places.filter { wholeNames[$0] == keyName }
      candidates += (named + places).map { Candidate(place: $0, match: .key) }
    }
    var seen: Set<Int> = []
    let inOrder = Match.allCases.flatMap { match in candidates.filter { $0.match == match } }
    return Array(inOrder.filter { seen.insert($0.place).inserted }.prefix(Self.candidatesMax))
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
