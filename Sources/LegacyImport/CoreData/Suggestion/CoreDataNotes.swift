/// Facts and problems that concern a Core Data file as a whole.
struct CoreDataNotes {
  private(set) var evidence: [String] = []
  private(set) var warnings: [String] = []

  init(_ source: CoreDataSource, _ mapping: ImportMapping, in database: SourceDatabase) throws {
    describe(source)
    noteRowsOfNoEntity(source)
    noteLeftovers(source)
    noteExternalFiles(source, mapping)
    try noteCloudDeletes(database)
  }

  private mutating func describe(_ source: CoreDataSource) {
    let metadata = source.file.metadata
    var store = "Core Data store"
    if let uuid = metadata.uuid { store += " \(uuid)" }
    if let version = metadata.frameworkVersion { store += ", framework \(version)" }
    let versions = metadata.modelVersions
    if !versions.isEmpty { store += ", model version \(versions.joined(separator: ", "))" }
    evidence.append(store)
    let layout = source.layout
    let by = source.file.model == nil ? "a guess, for the file holds no model" : "the model"
    evidence.append(
      "\(layout.columnsExplained) of \(layout.columnsTotal) columns explained by \(by)")
  }

  /// Reports rows that match no filter.
  private mutating func noteRowsOfNoEntity(_ source: CoreDataSource) {
    let mapped = Set(
      source.model.entities.filter { !$0.isAbstract }.compactMap { source.layout.numbers[$0.name] })
    for (table, facts) in source.facts.sorted(by: { $0.key < $1.key }) {
      let atLeast = facts.isComplete ? "" : "at least "
      if facts.rowsWithoutEntity > 0 {
        warnings.append(
          "rows of \(table) that no entity takes, for Z_ENT is null: "
            + "\(atLeast)\(facts.rowsWithoutEntity)")
      }
      if facts.rowsOfUnknownEntity > 0 {
        warnings.append(
          "rows of \(table) of an entity that is not known: "
            + "\(atLeast)\(facts.rowsOfUnknownEntity)")
      }
      for (name, number) in source.layout.numbers.sorted(by: { $0.value < $1.value })
      where !mapped.contains(number) && facts.rows(of: number) > 0 {
        warnings.append(
          "rows of \(table) of \(name), which is abstract: \(atLeast)\(facts.rows(of: number))")
      }
    }
  }

  /// Reports values in columns of another entity than the row's: a migration in place keeps them.
  private mutating func noteLeftovers(_ source: CoreDataSource) {
    for entity in source.model.entities {
      guard let table = source.layout.tables[entity.name], let facts = source.facts[table] else {
        continue
      }
      let own = Set(
        source.model.subtree(of: entity.name).compactMap { source.layout.numbers[$0.name] })
      let columns =
        entity.attributes.compactMap { source.layout.attributes[.init(entity.name, $0.name)] }
        + entity.relationships.filter { !$0.isToMany }.compactMap {
          source.layout.references[.init(entity.name, $0.name)]?.column
        }
      for column in columns {
        let others = facts.entities(filling: column).filter { !own.contains($0) }
        let rows = others.reduce(0) { $0 + facts.facts(of: column, entity: $1).values }
        guard rows > 0 else { continue }
        warnings.append(
          "leftover values in \(table).\(column) of rows that are no \(entity.name), which are not "
            + "taken: \(rows)")
      }
    }
  }

  private mutating func noteExternalFiles(_ source: CoreDataSource, _ mapping: ImportMapping) {
    // Several entities of a hierarchy may share a column.
    var columns: [String: Set<String>] = [:]
    for entity in mapping.entities {
      for attribute in entity.attributes where attribute.content == .external {
        guard case .column(let column) = attribute.source else { continue }
        columns[entity.table, default: []].insert(column)
      }
    }
    var (named, unsound) = (Set<String>(), 0)
    for (table, names) in columns {
      for name in names {
        guard let found = source.facts[table]?.facts(of: name) else { continue }
        named.formUnion(found.fileNames)
        unsound += found.blobsOfNoStorage
      }
    }
    if unsound > 0 {
      warnings.append("cells of external storage that hold no value and name no file: \(unsound)")
    }
    let found: Set<String>
    switch source.externalFiles {
    case .success(let names): found = names
    case .failure(let failure):
      warnings.append("the folder of external files is not read: it is \(failure.rawValue)")
      return
    }
    guard !columns.isEmpty || !found.isEmpty else { return }
    let missing = named.subtracting(found)
    evidence.append(
      "external files: \(named.count) named, \(named.count - missing.count) found, "
        + "\(missing.count) missing; \(found.subtracting(named).count) that nothing names")
    if !missing.isEmpty {
      warnings.append(
        "external files that are missing beside the source: \(missing.count); copy the folder, "
          + "too, or the records are imported without these values")
    }
  }

  /// Reports objects that were deleted in the cloud: their rows stay until a program with the store
  /// open processes the deletion.
  private mutating func noteCloudDeletes(_ database: SourceDatabase) throws {
    let column = "ZNEEDSLOCALDELETE"
    guard let table = database.table("ANSCKRECORDMETADATA"), table.kind == .table,
      table.column(column) != nil
    else { return }
    let reader = try database.rows(of: table, columns: [column])
    var rows = 0
    while let row = try reader.next() {
      if case .integer(let flag) = row.cells[0], flag != 0 { rows += 1 }
    }
    if rows > 0 {
      warnings.append(
        "objects that were deleted in the cloud and are still in the file: \(rows) (\(table.name))")
    }
  }
}
