import EntityModel
import Foundation
import Glibc
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Stores of one content, on which the migrations of a scenario are run in processes of their own,
/// and what must come of it.
struct MigrationBench {
  static let executable = childExecutable(named: "store-child")

  let scenario: MigrationScenario
  let folder: TemporaryFolder
  let seed: UInt64
  /// The content of the store before, and after an uninterrupted run.
  let before: [String]
  let after: [String]
  /// The commits of that run.
  let commits: Int

  init(_ scenario: MigrationScenario, in folder: TemporaryFolder, seed: UInt64) async throws {
    self.scenario = scenario
    self.folder = folder
    self.seed = seed
    // To write to a child that has failed is an error of the test, and not the end of all tests.
    signal(SIGPIPE, SIG_IGN)
    let base = folder.path("base")
    let items = try Self.open(base, [.items], migrate: .ifEmpty)
    try await ItemChanges(seed: seed).prepare(items)
    if scenario.isDown { try Self.open(base, scenario.sources).migrate() }
    before = try items.read { try StoreDigest.lines(in: $0) }
    let whole = folder.path("whole")
    try Self.copy(base, to: whole)
    let store = try Self.open(whole, scenario.sources)
    let count = Locked(0)
    var options = MigrationScenario.options()
    options.progress = { _ in count.withLock { $0 += 1 } }
    _ = try scenario.run(on: store, options)
    commits = count.withLock { $0 }
    after = try store.read { try StoreDigest.lines(in: $0) }
    try Self.requireNoLeftovers(store)
  }

  static func open(
    _ path: String, _ sources: [MigrationSource], migrate: Store.MigrationPolicy = .never
  ) throws -> Store {
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    // A few rows have many commits then, after each of which a test can stop.
    options.commitDuration = .zero
    return try Store.open(
      at: path, migrations: sources + [.code(MigrationScenario.codes)], migrate: migrate,
      options: options)
  }

  /// Another store with what the store has before.
  func copy(_ name: String) throws -> String {
    let path = folder.path(name)
    try Self.copy(folder.path("base"), to: path)
    return path
  }

  private static func copy(_ path: String, to other: String) throws {
    let files = FileManager.default
    try files.createDirectory(
      atPath: other, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try files.copyItem(atPath: path + "/data.mdb", toPath: other + "/data.mdb")
  }

  // MARK: Runs

  /// Starts a run.
  func start(
    _ path: String, _ settings: [String] = [], environment: [String: String] = [:]
  ) throws -> ChildProcess {
    try ChildProcess(
      Self.executable, ["migration-run", path, "scenario=\(scenario.rawValue)"] + settings,
      environment: environment)
  }

  /// The last line of a run that goes to its end.
  func end(of child: ChildProcess) -> (line: String, exit: ChildProcess.Exit) {
    var last = ""
    while let line = child.readLine() { last = line }
    return (last, child.waitForExit())
  }

  /// Runs it to the end, without any fault.
  func finish(_ path: String) throws {
    // In chunks of one record it could not keep up with who writes as fast.
    let (line, exit) = end(of: try start(path, ["chunk=1000"]))
    try #require(line.hasPrefix("migrated") && exit.status == 0 && !exit.wasSignal, "\(line)")
  }

  /// Runs it again and again, killed at random moments, until that has happened so often or it is
  /// done, and then to its end.
  ///
  /// - Returns: How often it was killed.
  func runWithKills(
    _ path: String, atMost kills: Int, using random: inout SeededRandom, isWritten: Bool = false
  ) throws -> Int {
    let store = try Self.open(path, scenario.sources)
    var killed = 0
    while killed < kills, try !isDone(store) {
      // Records at a time: mostly one, so that there are many moments between two commits.
      let chunk = random.oneIn(4) ? random.number(1...200) : 0
      let child = try start(path, ["chunk=\(chunk)"])
      for _ in 0..<random.number(0...max(1, commits / kills))
      where child.readLine() == nil { break }
      usleep(UInt32(random.number(0...1_500)))
      if child.kill().wasSignal { killed += 1 }
      if !isWritten {
        try requireClean(store)
        try requireWholePages(store)
      }
      if random.oneIn(2) { try damageScratch(of: path, using: &random) }
    }
    try finish(path)
    return killed
  }

  private func isDone(_ store: Store) throws -> Bool {
    let catalog = try store.catalog()
    if catalog.running != nil { return false }
    let applied = catalog.history.filter { $0.line == "more" }
    return scenario.isDown ? applied.isEmpty : try store.migrationState().pending.isEmpty
  }

  /// Removes a scratch file, cuts it, or changes a byte of it.
  private func damageScratch(of path: String, using random: inout SeededRandom) throws {
    let scratch = path + "/scratch"
    guard FileManager.default.fileExists(atPath: scratch) else { return }
    for name in try FileManager.default.contentsOfDirectory(atPath: scratch).sorted() {
      let file = URL(fileURLWithPath: scratch + "/" + name)
      switch random.number(0...3) {
      case 0: try FileManager.default.removeItem(at: file)
      case 1, 2:
        var bytes = try Data(contentsOf: file)
        if bytes.isEmpty { continue }
        let place = random.number(0...bytes.count - 1)
        if random.oneIn(2) { bytes[place] ^= 1 } else { bytes.removeLast(bytes.count - place) }
        try bytes.write(to: file)
      default: continue
      }
    }
  }

  // MARK: Ends

  /// The store must be as after a run that nothing has interrupted.
  func requireAfter(_ path: String) throws {
    let store = try Self.open(path, scenario.sources)
    let lines = try store.read { try StoreDigest.lines(in: $0) }
    try #require(lines == after, "seed \(seed): \(difference(lines, after))")
    try Self.requireNoLeftovers(store)
  }

  func difference(_ lines: [String], _ expected: [String]) -> String {
    let extra = Set(lines).subtracting(expected).sorted().prefix(3)
    let missing = Set(expected).subtracting(lines).sorted().prefix(3)
    return "there are \(Array(extra)) instead of \(Array(missing))"
  }

  static func requireNoLeftovers(_ store: Store) throws {
    try requireClean(store)
    try requireWholePages(store)
    let catalog = try store.catalog()
    try #require(catalog.build == nil && catalog.running == nil)
    try #require(
      catalog.schema.entities.allSatisfy { $0.attributes.allSatisfy { !$0.isHidden } })
    try store.read { transaction in
      let target = try CatalogTree.read(
        Schema.self, at: CatalogTree.targetKey, store.catalogTree, in: transaction.transaction)
      try #require(target == nil)
      try #require(try transaction.count(of: "_ChunkedWrite") == 0)
      // The name of a tree goes in a transaction after the one that empties it: a kill, or a full
      // disk, between the two leaves it to `contract`.
      for name in try store.environment.treeNames(in: transaction.transaction)
      where name.hasPrefix("n.") {
        let tree = try store.environment.tree(named: name, in: transaction.transaction)
        try #require(try tree.map { try transaction.transaction.count($0) } == 0, "\(name)")
      }
    }
    let files = FileManager.default
    let scratch = store.folder + "/scratch"
    if files.fileExists(atPath: scratch) {
      try #require(try files.contentsOfDirectory(atPath: scratch).isEmpty)
    }
    for name in [".before.new", ".before.new.partial"] {
      try #require(!files.fileExists(atPath: store.folder + name))
    }
  }
}
