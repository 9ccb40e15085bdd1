import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

/// Catalogs that no migration produces: each is reported as damaged.
@Suite struct CatalogCheckTests {
  private static let damages: [(String, @Sendable (inout Schema) -> Void)] = [
    ("two entities have the same name", { $0.model.name = $0.entities[0].name }),
    ("two entities have the same name or id", { $0.model.id = $0.entities[0].id }),
    (
      "two attributes have the same name",
      { $0.model.attributes[1].name = $0.model.attributes[0].name }
    ),
    (
      "two attributes have the same name or id",
      { $0.model.attributes[1].id = $0.model.attributes[0].id }
    ),
    ("it has no record layout", { $0.model.layouts = [] }),
    ("contradicts the attributes", { $0.model.layouts[0].slots[0].kind = .uuid }),
    ("lacks an attribute", { $0.model.layouts = [RecordShape(slots: [])] }),
    ("is of another type", { $0.model.attributes[0].defaultValue = .bool(true) }),
    ("are not those of an index", { $0.model.indexes[0].keys = [] }),
    ("are not those of an index", { $0.model.indexes[0].keys[0].attributeID = 4_711 }),
    (
      "are not those of an index",
      { $0.model.indexes[1].keys[0].collation = .localizedStandard }
    ),
    ("entries of index", { $0.model.indexes[0].generation = 99 }),
    ("its records are missing", { $0.model.id = 4_711 }),
    ("the schema is missing", { $0.entities = [] }),
  ]

  @Test(arguments: damages.indices)
  func eachContradictionIsFoundByOpeningAndByTheCheck(_ number: Int) throws {
    let (text, change) = Self.damages[number]
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      do {
        let store = try Store.open(at: path, migrations: [.model], migrate: .ifEmpty)
        var schema = try store.schema
        change(&schema)
        let damaged = schema
        try store.runAlone { transaction in
          try transaction.put(
            store.catalogTree, key: CatalogTree.schemaKey, value: try CatalogTree.encode(damaged))
        }
      }
      let error = #expect(throws: StoreError.self) { _ = try Store.open(at: path) }
      #expect(error?.code == .damaged)
      let report = try Store.check(at: path)
      #expect(!report.isClean && report.integrity == nil)
      #expect(report.problems.contains { $0.contains(text) }, "\(report.problems)")
    }
  }

  @Test func theCheckNamesEveryContradiction() throws {
    try withTemporaryFolder { folder in
      let path = folder.path("store")
      do {
        let store = try Store.open(at: path, migrations: [.model], migrate: .ifEmpty)
        try store.runAlone { transaction in
          try transaction.put(
            store.catalogTree, key: CatalogTree.schemaKey, value: Array("{\"entit".utf8))
          try transaction.put(store.catalogTree, key: CatalogTree.headerKey, value: [1, 2, 3])
        }
      }
      let report = try Store.check(at: path)
      #expect(report.problemCount == 2, "\(report.problems)")
    }
  }

  @Test func aSoundStoreIsClean() async throws {
    try await withTemporaryStore { temporary in
      let report = try Store.check(at: temporary.store.folder)
      #expect(report.isClean && report.pages.total > 2)
    }
  }
}
