import EntityStore
import Foundation
import TestSupport

@testable import Migrations

extension PreparedWork {
  /// A migration while the store can be written to, in chunks of one record.
  static func migration(
    _ scenario: MigrationScenario, in root: String, beside folder: TemporaryFolder
  ) async throws -> PreparedWork {
    let path = root + "/store"
    let sources = scenario.sources + [.code(MigrationScenario.codes)]
    let before = try await {
      let store = try openStore(at: path, migrations: [.items])
      try await ItemChanges(seed: 1).prepare(store)
      return try store.read { try StoreDigest.lines(in: $0) }
    }()
    let whole = folder.path("whole")
    try FileManager.default.createDirectory(atPath: whole, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: path + "/data.mdb", toPath: whole + "/data.mdb")
    let migrated = try openStore(at: whole, migrations: sources, migrate: .never)
    _ = try scenario.run(on: migrated, MigrationScenario.options(chunk: .seconds(1)))
    let after = try migrated.read { try StoreDigest.lines(in: $0) }
    return PreparedWork { recorder, settings in
      try recorder.run(
        ["migration-run", recorder.path("store"), "scenario=\(scenario.rawValue)"] + settings)
    } problems: { image, acknowledged in
      let folder = image + "/store"
      try requireUndamaged(folder)
      let store = try openStore(at: folder, migrations: sources, migrate: .never)
      // The rest of it.
      let applied = try scenario.run(on: store, MigrationScenario.options(chunk: .seconds(1)))
      if !acknowledged.words(after: "migrated").isEmpty, !applied.isEmpty {
        return ["\(applied) were to be applied again"]
      }
      let lines = try store.read { try StoreDigest.lines(in: $0) }
      guard lines == after else {
        let wrong = Set(lines).symmetricDifference(after)
        return ["the end of the migration differs in \(wrong.prefix(3))"]
      }
      try requireClean(store)
      try requireWholePages(store)
      return try scenario == .destructive
        ? problemsOfBackups(of: store, in: image, before) : []
    }
  }

  /// Before steps that lose something the store is copied, and the copy has all of it.
  private static func problemsOfBackups(
    of store: Store, in image: String, _ before: [String]
  ) throws -> [String] {
    let recorded = try store.read { try MigrationBackup.all(of: store, in: $0) }
    // The catalog has the paths in the recorded folder.
    let names = recorded.map { URL(fileURLWithPath: $0.path).lastPathComponent }
    let found = try FileManager.default.contentsOfDirectory(atPath: image)
    let copies = names.filter { found.contains($0) }
    if copies.isEmpty { return ["of the copies \(names) there is none in \(found)"] }
    for copy in copies {
      try requireUndamaged(image + "/" + copy)
      let store = try openStore(
        at: image + "/" + copy, migrations: [.items], migrate: .never)
      let lines = try store.read { try StoreDigest.lines(in: $0) }
      if lines != before { return ["the copy \(copy) has other records than the store had"] }
    }
    return []
  }
}
