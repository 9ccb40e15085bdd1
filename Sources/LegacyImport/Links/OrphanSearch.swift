/// Finds the links of a proposed mapping that lead to no row. What becomes of them is a choice that
/// a person makes before a run.
struct OrphanSearch {
  /// The greatest number of rows that are read for a relationship.
  private static let rowsMax = 100_000
  /// The number of keys without a row that are named.
  private static let shownMax = 3

  private let database: SourceDatabase
  private let mapping: ImportMapping

  /// Returns the mapping in which relationships with such links drop them and are unconfirmed.
  ///
  /// In a file with lost rows the link may lead to one; nothing is proposed for it. Tables
  /// without a unique index on their key are left out.
  ///
  /// - Throws: What reading throws.
  /// - Complexity: One search for each of the first 100,000 rows with links.
  static func marking(
    _ mapping: ImportMapping, in database: SourceDatabase
  ) throws -> ImportMapping {
    if !database.lost.isEmpty { return mapping }
    let search = OrphanSearch(database: database, mapping: mapping)
    var marked = mapping
    for (entity, mapped) in mapping.entities.enumerated() {
      for (number, relationship) in mapped.relationships.enumerated()
      where relationship.orphan == .reject {
        guard let doubt = try search.doubt(about: relationship, of: mapped) else { continue }
        let known = relationship.unconfirmed.map { $0 + "; " } ?? ""
        marked.entities[entity].relationships[number].orphan = .drop
        marked.entities[entity].relationships[number].unconfirmed = known + doubt
      }
    }
    return marked
  }

  /// One end of a link: where in a row its key is, and the table that has the key.
  private struct End {
    let place: Range<Int>
    let table: SourceTable
    let key: [String]
  }

  /// - Returns: Nil if every link leads to a row.
  private func doubt(
    about relationship: RelationshipMapping, of entity: EntityMapping
  ) throws -> String? {
    let filter = entity.filter.columns.sorted()
    let name: String
    let columns: [String]
    var ends: [End] = []
    switch relationship.source {
    case .columns(let own):
      (name, columns) = (entity.table, own + filter)
      ends = [end(at: own.indices, in: relationship.table)].compactMap(\.self)
    case .join(let join, let owner, let target, _):
      (name, columns) = (join, owner + target)
      ends = [end(at: owner.indices, in: entity.table)].compactMap(\.self)
      // In the table of the other records each row leads to itself.
      if join != relationship.table {
        let place = owner.count..<columns.count
        ends += [end(at: place, in: relationship.table)].compactMap(\.self)
      }
    }
    guard let table = database.table(name), !ends.isEmpty else { return nil }
    var search = Finding()
    let reader = try database.rows(of: table, columns: columns)
    var rows = 0
    while rows < Self.rowsMax, let row = try reader.next() {
      rows += 1
      if case .columns(let own) = relationship.source {
        let words = Dictionary(
          zip(filter, row.cells[own.count...].map(\.word)), uniquingKeysWith: { first, _ in first })
        guard entity.filter.takes(words) else { continue }
      }
      try look(at: row.cells, ends, &search)
    }
    guard search.orphans > 0 else { return nil }
    let shown = search.keys.prefix(Self.shownMax)
    let keys = shown + (shown.count < search.keys.count ? ["…"] : [])
    return "\(search.orphans) of \(search.links) links lead to no row "
      + "(\(keys.joined(separator: ", "))): drop or reject them?"
  }

  private func end(at place: Range<Int>, in name: String) -> End? {
    guard let table = database.table(name),
      let key = mapping.entities.first(where: { $0.table == name })?.key,
      key.count == place.count, table.isUnique(key)
    else { return nil }
    return End(place: place, table: table, key: key)
  }

  private struct Finding {
    var links = 0
    var orphans = 0
    /// The first keys without a row.
    var keys: [String] = []
    /// True for each key that a row has, by table.
    var known: [String: [[Cell]: Bool]] = [:]
  }

  private func look(at cells: [Cell], _ ends: [End], _ finding: inout Finding) throws {
    for end in ends where cells[end.place].contains(.null) { return }
    finding.links += 1
    for end in ends {
      let key = Array(cells[end.place])
      if try isThere(key, end, &finding) { continue }
      finding.orphans += 1
      let text = "\(end.table.name) \(RowIdentity.excerpt(of: key))"
      if finding.keys.count <= Self.shownMax, !finding.keys.contains(text) {
        finding.keys.append(text)
      }
      return
    }
  }

  private func isThere(_ key: [Cell], _ end: End, _ finding: inout Finding) throws -> Bool {
    if let known = finding.known[end.table.name]?[key] { return known }
    let isThere =
      try database.row(of: end.table, where: end.key, is: key, columns: end.key) != nil
    finding.known[end.table.name, default: [:]][key] = isThere
    return isThere
  }
}

extension RowFilter {
  /// Returns true if the filter takes a row with these words.
  fileprivate func takes(_ words: [String: String?]) -> Bool {
    isOneOf.allSatisfy { $0.value.contains(words[$0.key] ?? nil) }
      && isNoneOf.allSatisfy { !$0.value.contains(words[$0.key] ?? nil) }
  }
}
