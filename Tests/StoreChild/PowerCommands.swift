import EntityModel
import EntityObjects
import EntityStore
import Foundation
import LMDB
import Migrations
import TestSupport

/// Commands whose writes a test records, to lose power at any of them. Each prints what is
/// committed: `power-… FOLDER NAME=VALUE…`.
///
/// - Returns: `false` if the command is not one of them.
func runPowerCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("power-") else { return false }
  let settings = Settings(folder: arguments[1], arguments.dropFirst(2))
  switch arguments[0] {
  case "power-create": try await create(settings)
  case "power-set": try await set(settings)
  case "power-batch": try await runBatch(settings)
  case "power-large": try await insertLarge(settings)
  case "power-load": try await load(settings)
  case "power-hub": try await writeWithLog(settings)
  case "power-check": try await check(settings)
  default: return false
  }
  return true
}

/// Creates a store, and puts a record into it.
private func create(_ settings: Settings) async throws {
  let store = try settings.open([.items], migrate: .ifEmpty)
  let number = settings.number("number", or: 0)
  say("created \(number)")
  try await store.write { try $0.insert("Item", ["code": "first", "size": 1]) }
  say("inserted \(number)")
}

/// Writers at the same time, each with its own rows of `RowCounters`.
private func set(_ settings: Settings) async throws {
  try await write(to: try settings.open([.items]), settings)
}

private func write(to store: Store, _ settings: Settings) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for writer in 0..<settings.number("writers", or: 1) {
      group.addTask {
        try await RowCounters.write(
          settings.number("times", or: 1), by: writer, to: store
        ) { number in say("set \(writer) \(number)") }
      }
    }
    try await group.waitForAll()
  }
}

/// Runs a batch of `BatchPlan`.
private func runBatch(_ settings: Settings) async throws {
  let store = try settings.open([.model])
  let result = try await BatchPlan.update.run(on: store) { say("done \($0.done)") }
  say("changed \(result.counts.changed)")
}

/// Runs the inserts of `LargePlan`.
private func insertLarge(_ settings: Settings) async throws {
  let store = try settings.open([.model])
  try await LargePlan.growing.run(on: store) { say("done \($0.done)") }
}

/// Runs the load of `LoadPlan`.
private func load(_ settings: Settings) async throws {
  let store = try settings.open([LoadPlan.source])
  try await LoadPlan.run(on: store) { progress in
    if case .items(let items) = progress { say("items \(items.done)") }
  }
  say("loaded")
}

/// Creates a store with a commit log and writes to it. The log is on the standard output, so that
/// its reader has what the log of another machine would have: `part ENTRY CHAIN BYTES`.
private func writeWithLog(_ settings: Settings) async throws {
  let log = MemoryCommitLog(hub: 1, parts: [])
  log.afterCommit {
    for part in log.parts(after: log.head.sequence - 1) {
      let chain = part.chain.map { String($0, radix: 16) } ?? "-"
      say("part \(part.sequence) \(chain) \(Data(part.bytes).base64EncodedString())")
    }
  }
  let store = try settings.open([.items, .model], migrate: .ifEmpty, log: log)
  say("created")
  try await write(to: store, settings)
  try await LargePlan.few.run(on: store) { say("done \($0.done)") }
}

/// Checks a store with the rows of `set` that has lost its power, prints the rows of each writer,
/// and writes to it.
private func check(_ settings: Settings) async throws {
  let isCreated = settings.number("migrate", or: 0) == 0
  if isCreated { try requireUndamaged(settings.folder) }
  let store = try settings.open([.items], migrate: isCreated ? .never : .ifEmpty)
  let writers = settings.number("writers", or: 1)
  for writer in 0..<writers {
    say("rows \(writer) \(try store.read { try RowCounters.rows(of: writer, in: $0) })")
  }
  try await RowCounters.write(3, by: writers, to: store) { _ in }
  try requireClean(store)
  try requireWholePages(store)
}
