import EntityModel
import EntityStore
import Foundation
import Glibc
import LegacyImport
import Migrations
import TestSupport
import Testing

/// An import is killed at random moments and run again: the result equals that of an uninterrupted
/// one.
@Suite(.serialized) struct KilledImportTests {
  private static let executable = childExecutable(named: "store-child")
  private static let orders = isThorough ? 20_000 : 4_000

  @Test func anImportThatIsKilledRepeatedlyEndsLikeAnUninterruptedOne() throws {
    let kills = isThorough ? 200 : 12
    var random = SeededRandom(seed: testSeed(71))
    var killed = 0
    while killed < kills {
      killed += try Self.runToEnd(killsMax: kills - killed, &random)
    }
  }

  /// Imports both versions of a file, each until the import completes.
  ///
  /// - Returns: The number of kills.
  private static func runToEnd(killsMax: Int, _ random: inout SeededRandom) throws -> Int {
    let seed = random.seed
    var (after, killed) = (random, 0)
    try withTemporaryFolder { folder in
      let file = try ShopFile(in: folder, orders: orders)
      try FileManager.default.createDirectory(
        atPath: scratch(of: file), withIntermediateDirectories: false)
      let sources = [MigrationSource.legacyImport, .directory(file.migrationsPath)]
      let whole = try openStore(at: folder.path("whole"), migrations: sources)
      let store = try openStore(at: folder.path("killed"), migrations: sources)
      for version in 1...2 {
        if version == 2 { try file.change(orders: orders) }
        let expected = try run(file, in: whole)
        try #require(expected.isBalanced && expected.run == version, "seed \(seed)")
        var isEnded = false
        while !isEnded, killed < killsMax {
          isEnded = try kill(file, in: store, at: &after)
          if !isEnded { killed += 1 }
          try requireClean(store)
        }
        let report = try run(file, in: store)
        try #require(report.isBalanced, "seed \(seed): \(problems(of: report))")
        #expect(report.run == (isEnded ? version + 1 : version) || version == 2)
        #expect(report.tables == expected.tables)
        #expect(report.relationships == expected.relationships, "seed \(seed)")
        #expect(report.rejects == expected.rejects && report.gone == expected.gone)
        #expect(try contents(of: store) == contents(of: whole), "seed \(seed)")
        #expect(try store.chunkedWrites == 0)
      }
      try requireClean(store)
      try requireWholePages(store)
      // The last run has removed the copies of the killed ones.
      let left = try FileManager.default.contentsOfDirectory(atPath: scratch(of: file))
      #expect(left.isEmpty, "\(left)")
    }
    random = after
    return killed
  }

  private static func run(_ file: ShopFile, in store: Store) throws -> ImportReport {
    var options = LegacyFile.Options()
    options.scratchFolder = scratch(of: file)
    return try LegacyFile(file.path, options).run(
      try MappingText(Array(ShopFile.mapping.utf8), file: "shop.yaml"), in: store)
  }

  /// The folder for the copies of the file.
  private static func scratch(of file: ShopFile) -> String { file.path + ".scratch" }

  /// Waits for some steps of progress and a little longer, then kills.
  ///
  /// - Returns: True if it had completed by then.
  private static func kill(
    _ file: ShopFile, in store: Store, at random: inout SeededRandom
  ) throws -> Bool {
    let child = try ChildProcess(
      executable,
      ["import-run", store.folder, file.path, file.mappingPath, file.migrationsPath],
      environment: ["TMPDIR": scratch(of: file)])
    var lines = random.number(1...14)
    while lines > 0, let line = child.readLine() {
      try #require(!line.hasPrefix("error"), "\(line)")
      lines -= 1
      if line.hasPrefix("ended") {
        child.waitForExit()
        return true
      }
    }
    // Not a wait: the moment of the kill is drawn, also between two lines.
    usleep(UInt32(random.number(0...60_000)))
    return !child.kill().wasSignal
  }

  /// The records with their numbers, and their links.
  private static func contents(of store: Store) throws -> [String] {
    try store.read { snapshot in
      var lines = try StoreDigest.lines(in: snapshot)
      for record in try snapshot.fetch(FetchRequest(entityName: "Order")) {
        for name in ["customer", "previous", "labels"] {
          lines.append("\(record.id) \(name) \(try snapshot.related(record.id, name))")
        }
      }
      for record in try snapshot.fetch(FetchRequest(entityName: "_ImportReject")) {
        lines.append("\(try record["table"]) \(try record["key"])")
      }
      return lines
    }
  }
}

extension Store {
  fileprivate var chunkedWrites: Int {
    get throws { try read { try $0.count(of: "_ChunkedWrite") } }
  }
}
