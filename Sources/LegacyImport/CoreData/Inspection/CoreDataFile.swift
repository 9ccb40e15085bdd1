/// The contents of the system tables of a Core Data or SwiftData file.
package struct CoreDataFile {
  private static let entitiesMax = 10_000

  package let entities: [NumberedEntity]
  /// The given model, or the one in the file; `nil` if the file has none that can be read, as older
  /// files and files written by hand.
  package let model: ManagedObjectModel?
  package let metadata: StoreMetadata
  /// Problems with the system tables, each on one line.
  package let warnings: [String]

  /// Returns true if the tables are those of a Core Data store.
  package static func isOne(_ tables: [SourceTable]) -> Bool {
    let names = Set(tables.map(\.name))
    return names.contains("Z_PRIMARYKEY") && names.contains("Z_METADATA")
  }

  /// - Parameter given: A model that takes the place of the one in the file.
  /// - Throws: What reading throws. A model or metadata that make no sense are warnings.
  package init(_ database: SourceDatabase, model given: ManagedObjectModel? = nil) throws {
    var warnings: [String] = []
    entities = try Self.entities(database, &warnings)
    model = try given ?? Self.model(database, &warnings)
    metadata = try Self.metadata(database, &warnings)
    let hashed = Set(metadata.entityHashes.keys)
    if let model, !hashed.isEmpty, hashed != Set(model.entities.map(\.name)) {
      warnings.append(
        given == nil
          ? "the model in the file is not of the version that its metadata names"
          : "the given model is not of the version that the metadata of the file names")
    }
    self.warnings = warnings
  }

  private static func entities(
    _ database: SourceDatabase, _ warnings: inout [String]
  ) throws -> [NumberedEntity] {
    var entities: [NumberedEntity] = []
    let cells = try rows("Z_PRIMARYKEY", ["Z_ENT", "Z_NAME", "Z_SUPER"], database)
    for row in cells {
      guard case .integer(let number) = row[0], case .text(let name) = row[1] else {
        warnings.append("a row of Z_PRIMARYKEY has no number or no name")
        continue
      }
      let above: Int64 = if case .integer(let number) = row[2] { number } else { 0 }
      entities.append(NumberedEntity(number: number, name: name, above: above))
    }
    return entities
  }

  private static func model(
    _ database: SourceDatabase, _ warnings: inout [String]
  ) throws -> ManagedObjectModel? {
    let instead = "; entities and columns are guessed, and what is unsure must be confirmed"
    let row = try rows("Z_MODELCACHE", ["Z_CONTENT"], database).first
    switch row?[0] {
    case nil, .null: warnings.append("the file holds no model" + instead)
    case .blob(let bytes):
      do throws(ArchiveDamage) {
        return try ModelArchive.model(in: RawDeflate.inflated(bytes))
      } catch {
        warnings.append("the model in the file cannot be read: \(error.text)" + instead)
      }
    default: warnings.append("the data in place of the model is no model" + instead)
    }
    return nil
  }

  private static func metadata(
    _ database: SourceDatabase, _ warnings: inout [String]
  ) throws -> StoreMetadata {
    var metadata = StoreMetadata()
    guard let row = try rows("Z_METADATA", ["Z_UUID", "Z_PLIST"], database).first else {
      warnings.append("the file has no metadata")
      return metadata
    }
    if case .text(let uuid) = row[0] { metadata.uuid = uuid }
    guard case .blob(let bytes) = row[1] else {
      warnings.append("the file has no metadata but its identity")
      return metadata
    }
    do throws(ArchiveDamage) {
      return try StoreMetadata(uuid: metadata.uuid, propertyList: bytes)
    } catch {
      warnings.append("the metadata of the file cannot be read: \(error.text)")
      return metadata
    }
  }

  /// Returns the cells of a system table; none if the table is not there or has other columns.
  private static func rows(
    _ name: String, _ columns: [String], _ database: SourceDatabase
  ) throws -> [[Cell]] {
    guard let table = database.table(name), table.kind == .table,
      columns.allSatisfy({ table.column($0) != nil })
    else { return [] }
    let reader = try database.rows(of: table, columns: columns)
    var rows: [[Cell]] = []
    while rows.count < entitiesMax, let row = try reader.next() { rows.append(row.cells) }
    return rows
  }
}
