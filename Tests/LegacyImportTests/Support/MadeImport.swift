import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations
import TestSupport
import Testing

/// A file created by SQL, and a store with the schema of migration steps.
struct MadeImport {
  let store: Store
  let path: String
  /// The entities of the mapping, and what comes after them.
  var mapping: String

  func change(_ sql: String) throws { try MadeDatabase.make(at: path, sql) }

  @discardableResult
  func run() throws -> ImportReport { try LegacyFile(path).run(text, in: store) }

  func plan() throws -> (report: ImportReport, rejects: [ImportReject]) {
    var rejects: [ImportReject] = []
    let report = try LegacyFile(path).plan(text, in: store) { rejects.append($0) }
    return (report, rejects)
  }

  /// Plans and runs, and expects that the plan predicted the run.
  @discardableResult
  func planAndRun(_ location: SourceLocation = #_sourceLocation) throws -> ImportReport {
    let (plan, planned) = try plan()
    let report = try run()
    #expect(report.isBalanced, "\(problems(of: report))", sourceLocation: location)
    expectSameBalance(plan, report, location)
    #expect(
      plan.entities.map(\.written) == report.entities.map(\.written), sourceLocation: location)
    #expect(described(planned) == described(try rejects()), sourceLocation: location)
    return report
  }

  func rejects() throws -> [ImportReject] {
    var rejects: [ImportReject] = []
    _ = try store.eachImportReject(of: "made") { rejects.append($0) }
    return rejects
  }

  /// The rejects, each as `table key property code`.
  func described(_ rejects: [ImportReject]) -> [String] {
    rejects.map { "\($0.table) \($0.key) \($0.property ?? "-") \($0.code)" }.sorted()
  }

  /// The values of an attribute, in the order of the records.
  func values(_ entity: String, _ attribute: String) throws -> [String] {
    try store.read { snapshot in
      try snapshot.fetch(FetchRequest(entityName: entity)).map { try $0[attribute].text }
    }
  }

  /// The destinations of a relationship for each record, as `name: name name`.
  func links(_ entity: String, _ relationship: String, name: String = "name") throws -> [String] {
    try store.read { snapshot in
      try snapshot.fetch(FetchRequest(entityName: entity)).compactMap { record in
        let names = try snapshot.related(record.id, relationship).map {
          try snapshot.get($0)?[name].text ?? "?"
        }
        return names.isEmpty
          ? nil : "\(try record[name].text): \(names.joined(separator: " "))"
      }
    }
  }

  private var text: MappingText {
    get throws {
      try MappingText(
        Array(("import: made\ndialect: plain\nrejects: 100%\n" + mapping).utf8), file: "made.yaml")
    }
  }
}

/// Runs `body` with a new file and a new store.
func withMadeImport(
  steps: String, mapping: String, _ sql: String, _ body: (MadeImport) async throws -> Void
) async throws {
  let migration = "line: made\nsummary: What the file is imported to\nsteps:\n" + steps
  try await withTemporaryStore(
    migrations: [
      .legacyImport, MigrationSource(embedded: [("0001_made", Array(migration.utf8))]),
    ]
  ) { temporary in
    let path = temporary.folder.path("made.db")
    try MadeDatabase.make(at: path, sql)
    try await body(MadeImport(store: temporary.store, path: path, mapping: mapping))
  }
}
