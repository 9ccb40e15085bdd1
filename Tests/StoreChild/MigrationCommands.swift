import EntityModel
import EntityStore
import Foundation
import Glibc
import LMDB
import Migrations
import SystemSupport
import TestSupport

/// Commands that migrate a store, or use it while it is migrated: `migration-… FOLDER NAME=VALUE…`.
///
/// - Returns: `false` if the command is not one of them.
func runMigrationCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("migration-") else { return false }
  let settings = Settings(folder: arguments[1], arguments.dropFirst(2))
  switch arguments[0] {
  case "migration-run": try runMigrations(settings)
  case "migration-seal": try sealRecords(settings)
  case "migration-write": try await writeBeside(settings)
  case "migration-read": try readBeside(settings)
  case "migration-fill": try await fillMap(settings)
  case "migration-empty": try await emptyMap(settings)
  default: return false
  }
  return true
}

/// The settings of a command: `NAME=VALUE…`.
struct Settings {
  let folder: String
  private var values: [String: String] = [:]

  init(folder: String, _ arguments: ArraySlice<String>) {
    self.folder = folder
    for argument in arguments {
      let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 { values[parts[0]] = parts[1] }
    }
  }

  var scenario: MigrationScenario {
    MigrationScenario(rawValue: values["scenario"] ?? "") ?? .retype
  }

  /// The folders of `lines=FOLDER:FOLDER…`.
  var lines: [MigrationSource] {
    (values["lines"] ?? "").split(separator: ":").map { .directory(String($0)) }
  }

  func text(_ name: String) -> String { values[name] ?? "" }

  func number(_ name: String, or usual: Int) -> Int {
    values[name].flatMap { Int($0) } ?? usual
  }

  /// A store as a program with these lines opens it.
  func open(
    _ sources: [MigrationSource], migrate: Store.MigrationPolicy = .never,
    log: MemoryCommitLog? = nil
  ) throws -> Store {
    var options = Store.Options()
    options.mapSize = number("map", or: 1 << 30)
    options.flushesCommits = number("flush", or: 0) == 1
    // A few rows have many commits without it, after each of which a test can stop.
    options.commitDuration = .milliseconds(number("duration", or: 0))
    options.now = { Date(timeIntervalSinceReferenceDate: 0) }
    options.commitLog = log
    try options.addHub(ofStoreIn: folder)
    return try Store.open(
      at: folder, migrations: sources + [.code(MigrationScenario.codes)], migrate: migrate,
      options: options)
  }
}

/// Runs the migrations of a scenario, and prints a line after each commit. After commit number
/// `pause` it waits until it reads a line.
private func runMigrations(_ settings: Settings) throws {
  do {
    let scenario = settings.scenario
    let store = try settings.open(scenario.sources)
    var options = MigrationScenario.options(
      chunk: .microseconds(settings.number("chunk", or: 0)))
    options.wait = .seconds(settings.number("wait", or: 0))
    let left = Countdown(settings.number("pause", or: 0))
    options.progress = { progress in
      say("\(progress.stage) \(progress.done)")
      if left.isOver() { _ = readLine() }
    }
    let names = try scenario.run(on: store, options)
    say("migrated " + names.joined(separator: " "))
  } catch let error as StoreError {
    say("failed \(error.code) \(error)")
    exit(1)
  }
}

/// Gives seals to the records of a store, one in each commit, and prints a line before each.
private func sealRecords(_ settings: Settings) throws {
  let store = try settings.open(settings.lines)
  try store.sealRecords(
    chunkDuration: .zero,
    isCancelled: {
      say("chunk")
      return false
    })
}

private final class Countdown: @unchecked Sendable {
  // SAFETY: used on the thread that migrates only.
  private var left: Int

  init(_ left: Int) { self.left = left }

  /// Returns true for the last of the expected number of calls.
  func isOver() -> Bool {
    left -= 1
    return left == 0
  }
}

/// Writes changes like a program without the migrations, one commit each, until it reads a line.
/// After each it prints the number of schemas it has written in, and waits briefly.
private func writeBeside(_ settings: Settings) async throws {
  let store = try settings.open([.items])
  let changes = ItemChanges(seed: UInt64(settings.number("seed", or: 0)))
  var random = SeededRandom(seed: UInt64(settings.number("seed", or: 0)) + 1)
  var schemas: [String] = []
  var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
  for number in 0..<settings.number("times", or: 0) {
    let (schema, isMade) = try await changes.make(number, in: store)
    if schemas.last != schema { schemas.append(schema) }
    say("\(schemas.count - 1) \(isMade)")
    if poll(&input, 1, Int32(random.number(0...4))) != 0 { break }
  }
  say("end")
  _ = readLine()
}

/// Reads the whole store repeatedly until it reads a line, and prints the contents that it has
/// found.
private func readBeside(_ settings: Settings) throws {
  let store = try settings.open([.items])
  var met: [UInt64] = []
  var times = 0
  var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
  say("ready")
  while poll(&input, 1, 0) == 0 {
    let (hash, problem) = try store.read { transaction in
      (
        StoreDigest.hash(of: try StoreDigest.lines(in: transaction)),
        try indexProblem(in: transaction)
      )
    }
    if let problem { return say("failed \(problem)") }
    if !met.contains(hash) { met.append(hash) }
    times += 1
  }
  say("read \(times) " + met.map { String($0) }.joined(separator: " "))
}

/// Returns a problem if an index does not agree with the records.
private func indexProblem(in transaction: EntityStore.ReadTransaction) throws -> String? {
  let entity = try transaction.description(of: "Item")
  let all = try transaction.count(of: "Item")
  for name in ["bySize", "new"] {
    guard let index = entity.indexes.first(where: { $0.name == name }), !index.isSparse,
      let first = index.keys.first,
      let key = entity.attributes.first(where: { $0.id == first.attributeID })
    else { continue }
    let request = FetchRequest(
      entityName: "Item",
      sortBy: [SortKey(key.name, descending: first.isDescending)], requiresIndex: true)
    let found = try transaction.fetch(request)
    if found.count != all { return "\(name) finds \(found.count) of \(all) records" }
  }
  return nil
}

/// Takes all room of the map that a transaction can get.
private func fillMap(_ settings: Settings) async throws {
  let store = try settings.open([.items])
  var size = 64 << 10
  while size >= 512 {
    do {
      try await store.write { [size] transaction in
        try transaction.insert("Ballast", ["bytes": .data(Data(count: size))])
      }
    } catch let error as StoreError where error.code == .mapFull {
      size /= 2
    }
  }
  say("full")
}

/// Releases it.
private func emptyMap(_ settings: Settings) async throws {
  let store = try settings.open([.items])
  try await store.write { transaction in
    for record in try transaction.fetch(FetchRequest(entityName: "Ballast")) {
      try transaction.delete(record.id)
    }
  }
  say("empty")
}
