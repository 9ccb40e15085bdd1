import Console
import EntityStore
import Foundation
import LegacyImport

/// The output of `mooring import inspect`.
struct ProposalText {
  let proposal: ImportProposal
  let file: LegacyFileArgument
  /// Where the mapping was to go.
  let mapping: String?
  /// The folder where the migration was to go.
  let migrations: String?
  let written: [String]
  /// The reason why names were not compared with those of a store.
  let storeNote: String?
  let options: StoreOptions

  struct Document: Encodable {
    struct Entity: Encodable {
      let entity: String
      let table: String
      let rows: Int64?
    }

    let file: String
    let name: String
    let dialect: String
    let entities: [Entity]
    let notes: [String]
    let warnings: [String]
    let unconfirmed: [String]
    let mapping: String
    let migration: String
    let written: [String]
  }

  /// The entities of the proposal; parts with the same table and entity are one.
  private var entities: [Document.Entity] {
    var entities: [Document.Entity] = []
    for (entity, table, rows) in proposal.entities
    where !entities.contains(where: { $0.entity == entity && $0.table == table }) {
      entities.append(.init(entity: entity, table: table, rows: rows))
    }
    return entities
  }

  var document: Document {
    Document(
      file: file.path, name: proposal.name, dialect: proposal.dialect,
      entities: entities,
      notes: notes, warnings: proposal.warnings, unconfirmed: proposal.unconfirmed,
      mapping: proposal.mapping, migration: proposal.migration, written: written)
  }

  func write(_ output: inout StandardOutput) throws {
    let tables = Set(entities.map(\.table)).count
    let names = Set(entities.map(\.entity)).count
    try output.write(
      "\(file.path): \(kind), \(Self.count(tables, "table")) for "
        .singleLine + "\(Self.count(names, "entity", "entities"))\n")
    if !entities.isEmpty {
      try output.write("\n")
      try output.write(table)
    }
    var isFirst = true
    for line in notes + cautions {
      try output.write((isFirst ? "\n" : "") + line.singleLine + "\n")
      isFirst = false
    }
    try output.write("\n")
    for line in next { try output.write(line.singleLine + "\n") }
  }

  /// The warnings that a person should read before they continue.
  var cautions: [String] {
    proposal.warnings.map { "warning: " + $0 }
      + proposal.unconfirmed.map { "to be confirmed: " + $0 }
  }

  private var notes: [String] { proposal.notes + [storeNote].compactMap { $0 } }

  private var kind: String {
    proposal.dialect == "coreData" ? "a store of Core Data or SwiftData" : "a SQLite file"
  }

  private var table: TextTable {
    var table = TextTable([
      .init("entity"), .init("from the table"), .init("with rows", .number),
    ])
    for entity in entities {
      table.append([
        entity.entity, entity.table, entity.rows.map { Formatting.count($0) } ?? "?",
      ])
    }
    return table
  }

  private var next: [String] {
    let inspect = ["import", "inspect"] + file.words
    guard let mapping, let migrations else {
      let names = [
        "--mapping", mapping ?? proposal.name + ".yaml", "--migration", migrations ?? "migrations",
      ]
      return written.map { "wrote \($0)" }
        + ["to have both files written, type", "  " + command(inspect + names)]
    }
    let folder = ["--migrations", migrations]
    let isCertain = proposal.unconfirmed.isEmpty
    let confirm =
      isCertain ? [] : ["  " + command(["import", "confirm", "--mapping", mapping] + folder)]
    return [
      "wrote \(written.joined(separator: " and "))",
      isCertain
        ? "read both and correct them; then type"
        : "read both, correct them, and confirm each guess (Entity.property, or "
          + "Entity.property=reading); type",
    ] + confirm + [
      "  " + command(["migrate", "up"] + folder),
      "  " + command(["import", "plan"] + file.words + ["--mapping", mapping]),
    ]
  }

  private func command(_ words: [String]) -> String { options.commandLine(words) }

  private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(Formatting.count(Int64(number))) \(number == 1 ? one : many ?? one + "s")"
  }
}
