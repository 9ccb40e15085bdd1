import EntityStore
import Foundation
import LegacyImport
import Migrations
import TestSupport

/// A file that is taken over as its inspection proposes, the guesses taken for right.
struct ProposedImport {
  let temporary: TemporaryStore
  let file: LegacyFile
  let name: String
  let mapping: ImportMapping

  var store: Store { temporary.store }

  func plan() throws -> (report: ImportReport, rejects: [ImportReject]) {
    var rejects: [ImportReject] = []
    let report = try file.plan(text, in: store) { rejects.append($0) }
    return (report, rejects)
  }

  func run() throws -> ImportReport { try file.run(text, in: store) }

  func rejects() throws -> [ImportReject] {
    var rejects: [ImportReject] = []
    _ = try store.eachImportReject(of: name) { rejects.append($0) }
    return rejects
  }

  private var text: MappingText {
    get throws {
      try MappingText(Array(MappingFile.text(of: mapping).utf8), file: "proposed.yaml")
    }
  }
}

/// Runs `body` with a new store that has what an inspection of the file proposes.
func withProposedImport(
  of path: String, allowsDamage: Bool = false, inheritance: ImportInheritance? = nil,
  _ body: (ProposedImport) async throws -> Void
) async throws {
  try await withTemporaryFolder { scratch in
    var options = LegacyFile.Options()
    options.allowsDamage = allowsDamage
    options.scratchFolder = scratch.path
    let file = LegacyFile(path, options)
    let proposal = try file.inspect(inheritance: inheritance)
    let sources = [
      MigrationSource.legacyImport,
      MigrationSource(embedded: [("0001_proposed", Array(proposal.migration.utf8))]),
    ]
    try await withTemporaryStore(migrations: sources) { temporary in
      let schema = try temporary.store.read { $0.schema }
      let mapping = try MappingFile.read(
        Array(proposal.mapping.utf8), file: "proposed.yaml", schema: schema)
      try await body(
        ProposedImport(
          temporary: temporary, file: file, name: proposal.name, mapping: mapping.confirmed))
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
    guard left.isEmpty else { throw RemainingFiles(names: left) }
  }
}

struct RemainingFiles: Error { let names: [String] }

extension ImportMapping {
  /// All guesses taken for right.
  var confirmed: ImportMapping {
    var mapping = self
    for entity in mapping.entities.indices {
      for place in mapping.entities[entity].attributes.indices {
        mapping.entities[entity].attributes[place].unconfirmed = nil
      }
      for place in mapping.entities[entity].relationships.indices {
        mapping.entities[entity].relationships[place].unconfirmed = nil
      }
    }
    return mapping
  }
}
