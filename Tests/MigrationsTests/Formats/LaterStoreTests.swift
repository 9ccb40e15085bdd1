import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// The current version with stores of later ones: it does what they permit, and reports what is
/// needed.
@Suite struct LaterStoreTests {
  private static let earlier = EarlierStore("history")

  // MARK: Bits of the header

  /// Offsets in the header of the catalog, see `CatalogHeader`.
  @Test("An unknown format or incompatible feature cannot be opened", arguments: [8, 15])
  func isNotOpened(offset: Int) async throws {
    try await withStore { path in
      try changeHeader(at: path) { $0[offset] = 0x80 }
      for isReadOnly in [true, false] {
        let error = #expect(throws: StoreError.self) {
          try openEarlier(Self.earlier, at: path, isReadOnly: isReadOnly)
        }
        #expect(error?.code == .newerFormat)
        #expect(error?.description.contains("newer version") == true)
      }
    }
  }

  @Test("An unknown read-compatible feature lets it be read", arguments: [16, 19])
  func isOnlyReadForItsFeature(offset: Int) async throws {
    try await withStore { path in
      try changeHeader(at: path) { $0[offset] = 0x80 }
      try await expectOnlyReads(path, refusedAs: .newerFormat, saying: "newer version")
    }
  }

  // MARK: Migrations beyond those that the program knows

  @Test func aMigrationThatLetsOlderProgramsWriteDoes() async throws {
    try await withStore { path in
      try apply(.write, at: path)
      let store = try openEarlier(Self.earlier, at: path)
      try await store.write { _ = try $0.insert("Shelf", ["name": "new"]) }
      #expect(try store.migrationState().unknown.map(\.name) == ["0003_later"])
      // Its own migrations may contradict those that it does not know.
      let error = #expect(throws: StoreError.self) { try store.migrate() }
      #expect(error?.code == .newerSchema)
      #expect(error?.description.contains("local@3") == true)
      try requireClean(store)
    }
  }

  @Test(
    "A migration that says nothing, or that it may be read",
    arguments: [nil, .read] as [OlderPrograms?])
  func isOnlyReadForItsMigration(older: OlderPrograms?) async throws {
    try await withStore { path in
      try apply(older, at: path)
      try await expectOnlyReads(path, refusedAs: .newerSchema, saying: "local@3")
    }
  }

  @Test func aMigrationThatRefusesOlderProgramsDoes() async throws {
    try await withStore { path in
      try apply(.refuse, at: path)
      for isReadOnly in [true, false] {
        let error = #expect(throws: StoreError.self) {
          try openEarlier(Self.earlier, at: path, isReadOnly: isReadOnly)
        }
        #expect(error?.code == .newerSchema)
        #expect(error?.description.contains("local@3") == true)
        #expect(error?.description.contains("mooring 9.0") == true)
      }
    }
  }

  // MARK: The cases

  /// Creates a store with all migrations of this program.
  private func withStore(_ body: (String) async throws -> Void) async throws {
    try await Self.earlier.withFolder { path in
      try openEarlier(Self.earlier, at: path).migrate()
      try await body(path)
    }
  }

  private func expectOnlyReads(
    _ path: String, refusedAs code: StoreError.Code, saying words: String
  ) async throws {
    for isReadOnly in [true, false] {
      let store = try openEarlier(Self.earlier, at: path, isReadOnly: isReadOnly)
      #expect(try Self.earlier.expected().differences(from: store).isEmpty)
      try requireClean(store)
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb"))
    let store = try openEarlier(Self.earlier, at: path)
    let error = await #expect(throws: StoreError.self) {
      try await store.write { _ = try $0.insert("Shelf", ["name": "new"]) }
    }
    #expect(error?.code == code)
    #expect(error?.description.contains(words) == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/data.mdb")) == before)
  }

  private func changeHeader(at path: String, _ change: (inout [UInt8]) -> Void) throws {
    try changeCatalog(at: path) { tree, transaction in
      var header = Array(try #require(try transaction.get(tree, CatalogTree.headerKey)))
      change(&header)
      try transaction.put(tree, key: CatalogTree.headerKey, value: header)
    }
  }

  /// Records a third migration of the line `local`, of which this program has two.
  private func apply(_ older: OlderPrograms?, at path: String) throws {
    let later = AppliedMigration(
      line: "local", version: 3, name: "0003_later", checksum: "c9:later", appliedAt: 0,
      sequence: 100, older: older, program: "mooring 9.0")
    try changeCatalog(at: path) { tree, transaction in
      let key = CatalogTree.historyKey("local", 3)
      try transaction.put(tree, key: key, value: CatalogTree.encode(later))
    }
  }

  private func changeCatalog(
    at path: String, _ change: (Tree, TreeWriter) throws -> Void
  ) throws {
    let options = Environment.Options(mapSize: 1 << 30, flushesCommits: false)
    let environment = try Environment.open(at: path, options: options)
    try environment.writerQueue.sync {
      try environment.write { transaction in
        let tree = try environment.tree(named: CatalogTree.name, in: transaction)
        try change(try #require(tree), transaction)
        try CatalogSeal.write(try #require(tree), in: transaction)
      }
    }
  }
}
