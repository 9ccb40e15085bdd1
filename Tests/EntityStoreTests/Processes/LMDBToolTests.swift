import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore

/// The tools of lmdb-utils read a store: it is an ordinary environment.
@Suite struct LMDBToolTests {
  @Test func theCountsOfLMDBsToolsEqualTheStores() async throws {
    for tool in ["mdb_stat", "mdb_dump"]
    where !FileManager.default.isExecutableFile(atPath: "/usr/bin/\(tool)") {
      print("\(tool) is not installed (lmdb-utils): nothing was compared")
      return
    }
    try await withTemporaryStore(seed: 81) { temporary in
      try await CrashPlan.prepare(temporary.store)
      try await CrashPlan.write(to: temporary.store)
      let stat = try Self.entries(byMDBStat: temporary.store.folder)
      let trees = try Self.trees(temporary.store)
      #expect(trees.count > 15)
      for (name, count) in trees {
        #expect(stat[name] == count, "mdb_stat: \(name)")
        #expect(
          try Self.entries(byMDBDump: temporary.store.folder, tree: name) == count,
          "mdb_dump: \(name)")
      }
    }
  }

  private static func trees(_ store: Store) throws -> [String: Int] {
    try store.read { transaction in
      var counts: [String: Int] = [:]
      for entity in transaction.catalog.entities.values {
        counts[entity.tree.name] = try transaction.transaction.count(entity.tree)
        for index in entity.indexes {
          counts[index.tree.name] = try transaction.transaction.count(index.tree)
        }
      }
      return counts
    }
  }

  /// `Status of NAME`, and some lines later `  Entries: N`.
  private static func entries(byMDBStat folder: String) throws -> [String: Int] {
    let child = try ChildProcess(URL(fileURLWithPath: "/usr/bin/mdb_stat"), ["-a", folder])
    var counts: [String: Int] = [:]
    var name = ""
    while let line = child.readLine() {
      if line.hasPrefix("Status of ") { name = String(line.dropFirst(10)) }
      if line.contains("Entries: ") { counts[name] = Int(line.split(separator: " ").last ?? "") }
    }
    child.waitForExit()
    return counts
  }

  /// Between the header and `DATA=END` a line for each key and one for each value.
  private static func entries(byMDBDump folder: String, tree: String) throws -> Int {
    let child = try ChildProcess(
      URL(fileURLWithPath: "/usr/bin/mdb_dump"), ["-s", tree, folder])
    var lines = 0
    while let line = child.readLine() { if line.hasPrefix(" ") { lines += 1 } }
    child.waitForExit()
    return lines / 2
  }
}
