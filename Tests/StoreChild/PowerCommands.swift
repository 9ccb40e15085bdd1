import EntityModel
import EntityObjects
import EntityStore
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
  let store = try settings.open([.items])
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
