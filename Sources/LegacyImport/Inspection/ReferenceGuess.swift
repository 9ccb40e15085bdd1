import EntityModel

/// A proposal to take columns of a table for the key of another one.
struct ReferenceGuess: Sendable {
  var columns: [String]
  /// The table whose key it is.
  var target: String
  /// The names of the relationship and its inverse. Names that occur twice are changed later.
  var name: String
  var inverse: String
  var orphan = RelationshipMapping.Orphan.reject
  var evidence: [String] = []
  /// The reason why it must be confirmed. Until then its column is an attribute, too.
  var unconfirmed: String?
}

/// Finds the references between the tables of a file: those that the schema declares, and those
/// that names and values suggest together. Equal numbers alone suggest nothing, because every table
/// counts from one.
struct ReferenceSearch {
  private let database: SourceDatabase
  private let guesses: [TableGuess]
  private let names: ReferenceNames

  /// The greatest number of distinct values of a column that are looked up.
  private static let lookupsMax = 256
  /// The greatest number of references that are inferred for a table. With the attributes of its
  /// columns they stay below the limit of an entity (`StoreLimits`).
  private static let inferredMax = 100

  init(_ database: SourceDatabase, _ guesses: [TableGuess]) {
    self.database = database
    self.guesses = guesses
    names = ReferenceNames(guesses)
  }

  /// Returns the references of the table at a place of the guesses.
  ///
  /// - Throws: `ImportError` if the file cannot be read; `CancellationError`.
  func references(at place: Int) throws -> [ReferenceGuess] {
    let guess = guesses[place]
    var found: [ReferenceGuess] = []
    for key in guess.table.foreignKeys {
      if let reference = try declared(key, guess),
        !found.contains(where: { $0.columns == reference.columns })
      {
        found.append(reference)
      }
    }
    let known = Set(found.flatMap(\.columns))
    var inferred: [ReferenceGuess] = []
    for column in guess.columns where !known.contains(column.column) {
      if inferred.count >= Self.inferredMax { break }
      if let reference = try self.inferred(column, guess, at: place) { inferred.append(reference) }
    }
    return found + inferred
  }

  // MARK: Declared

  private func declared(_ key: SourceForeignKey, _ guess: TableGuess) throws -> ReferenceGuess? {
    // SQLite finds the table whatever the case of the letters.
    guard
      let target = guesses.first(where: { $0.table.name == key.table })
        ?? guesses.first(where: { $0.table.name.lowercased() == key.table.lowercased() })
    else { return nil }
    let columns = key.targetColumns.isEmpty ? target.table.primaryKey : key.targetColumns
    guard columns.count == key.columns.count, Set(columns) == Set(target.key),
      key.columns.allSatisfy({ guess.table.column($0) != nil })
    else { return nil }
    let own = Dictionary(zip(columns, key.columns)) { first, _ in first }
    var reference = ReferenceGuess(
      columns: target.key.compactMap { own[$0] }, target: target.table.name,
      name: Self.name(of: key.columns, target), inverse: "")
    reference.inverse = Self.inverse(of: guess, reference)
    reference.evidence = ["declared as a foreign key"]
    if let column = key.columns.first, key.columns.count == 1,
      let profile = guess.profile(of: column)
    {
      let lookup = try self.lookup(profile, in: target)
      if lookup.values > 0 { reference.evidence.append(lookup.text) }
      if lookup.values > 0, lookup.found == 0 {
        reference.unconfirmed =
          "declared as a foreign key, and no value leads to a row; none keeps only the column"
      }
      if lookup.hasOnlySentinels { reference.orphan = .drop }
    }
    return reference
  }

  // MARK: Inferred

  private func inferred(
    _ column: ColumnGuess, _ guess: TableGuess, at own: Int
  ) throws -> ReferenceGuess? {
    guard column.type == .int64 || column.type == .string, column.conversion == .none,
      let profile = guess.profile(of: column.column), !profile.distinct.counts.isEmpty
    else { return nil }
    let candidates = names.candidates(for: column.column, of: own)
    // The key of files is idFile: that is the file itself, and no reference to what else has that
    // key.
    if guess.onlyKeyColumn == column.column, candidates.first?.place == own { return nil }
    var looked: [(candidate: ReferenceNames.Candidate, lookup: Lookup)] = []
    for candidate in candidates {
      let target = guesses[candidate.place]
      guard let key = target.onlyKeyColumn, target.guess(of: key)?.type == column.type,
        candidate.place != own || key != column.column
      else { continue }
      looked.append((candidate, try lookup(profile, in: target)))
    }
    let fitting = looked.filter(\.lookup.isReference)
    guard let strongest = fitting.first?.candidate.match,
      let best = fitting.filter({ $0.candidate.match == strongest })
        .max(by: { $0.lookup.share < $1.lookup.share })
    else { return nil }
    let others = looked.filter { $0.candidate.place != best.candidate.place }.map {
      text(of: $0.candidate, $0.lookup)
    }
    return reference(column, guess, to: best.candidate, best.lookup, others)
  }

  private func reference(
    _ column: ColumnGuess, _ guess: TableGuess, to candidate: ReferenceNames.Candidate,
    _ lookup: Lookup, _ others: [String]
  ) -> ReferenceGuess {
    let target = guesses[candidate.place]
    var reference = ReferenceGuess(
      columns: [column.column], target: target.table.name,
      name: Self.name(of: [column.column], target), inverse: "")
    reference.inverse = Self.inverse(of: guess, reference)
    reference.evidence = [column.evidence.first, "by its name, and " + lookup.text]
      .compactMap { $0 }
    reference.unconfirmed =
      (["guessed from names and values: \(text(of: candidate, lookup))"]
      + others + ["none keeps only the column"]).joined(separator: "; ")
    if lookup.hasOnlySentinels { reference.orphan = .drop }
    return reference
  }

  /// Returns the evidence for a candidate, such as `user by its whole name, 3 of 3 different values
  /// lead to a row`.
  private func text(of candidate: ReferenceNames.Candidate, _ lookup: Lookup) -> String {
    "\(guesses[candidate.place].table.name) by \(candidate.match.text), \(lookup.text)"
  }

  // MARK: Values

  private struct Lookup {
    /// The number of distinct values that were looked up, without those that stand for none.
    var values = 0
    var found = 0
    var sentinels: [String] = []

    var share: Double { values == 0 ? 0 : Double(found) / Double(values) }
    var isReference: Bool { found > 0 && found * 100 >= values * 98 }
    var hasOnlySentinels: Bool { !sentinels.isEmpty && found == values }

    var text: String {
      let none = sentinels.isEmpty ? "" : "; \(sentinels.joined(separator: ", ")) stands for none"
      return "\(found) of \(values) different values lead to a row" + none
    }
  }

  private func lookup(_ profile: ColumnProfile, in target: TableGuess) throws -> Lookup {
    var lookup = Lookup()
    for (cell, _) in profile.distinct.sorted {
      if lookup.values >= Self.lookupsMax { break }
      let row = try database.row(
        of: target.table, where: target.key, is: [cell], columns: target.key)
      // SQLite may take the number 1 for the text 1; a link does not.
      let isFound = row?.cells == [cell]
      if !isFound, [.integer(0), .integer(-1), .text("")].contains(cell) {
        lookup.sentinels.append(cell.shown)
      } else {
        lookup.values += 1
        lookup.found += isFound ? 1 : 0
      }
    }
    return lookup
  }

  // MARK: Names

  /// Returns `podcast` for the column podcast_id, and `feedurl` for a column that says no more.
  private static func name(of columns: [String], _ target: TableGuess) -> String {
    guard columns.count == 1, let column = columns.first else {
      return NameWords(target.table.name).camelCase
    }
    let stem = ReferenceNames.stem(of: NameWords(column).words)
    return NameWords(words: stem).camelCase
  }

  private static func inverse(of guess: TableGuess, _ reference: ReferenceGuess) -> String {
    if guess.table.name == reference.target, reference.name == "parent" { return "children" }
    let name = NameWords(guess.table.name).camelCase
    return name.hasSuffix("s") ? name : name + "s"
  }
}
