import EntityModel
import EntityObjects
import EntityStore
import Foundation
import Glibc
import LMDB
import Maintenance
import Migrations
import SystemSupport
import TestSupport

/// Commands on a store.
///
/// - Returns: `false` if the command is not one of them.
func runStoreCommand(_ arguments: [String]) async throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("store-") else { return false }
  let folder = arguments[1]
  let number = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
  switch arguments[0] {
  case "store-migrate": try migrate(folder)
  case "store-count": try await count(folder, times: number)
  case "store-seed": try await seed(folder, from: arguments.count > 2 ? arguments[2] : "")
  case "store-chunks": try await writeChunks(folder)
  case "store-batch": try await runBatch(folder, arguments.count > 2 ? arguments[2] : "")
  case "store-load": try await load(folder)
  case "store-fill": try await fill(folder, bytesMax: number)
  default: return false
  }
  return true
}

/// Applies the migrations that the store does not have yet.
private func migrate(_ folder: String) throws {
  let store = try openStore(at: folder, migrations: [.grownModel], migrate: .never)
  say("applied \(try store.migrate().migrations.map(\.name).joined(separator: " "))")
}

/// Adds one to the rank of the record named `counter` a number of times, after a line of input.
private func count(_ folder: String, times: Int) async throws {
  let store = try openStore(at: folder, migrate: .never)
  say("ready")
  _ = readLine()
  for _ in 0..<times {
    try await store.write { transaction in
      guard let record = try transaction.get("Sample", by: ["name": "counter"]) else { return }
      try transaction.update(record.id) { record in
        guard case .int64(let rank) = try record["rank"] else { return }
        try record.set("rank", to: .int64(rank + 1))
      }
    }
  }
  say("done")
}

/// Seeds from a file after a line of input, and prints whether it was the first to do so.
private func seed(_ folder: String, from path: String) async throws {
  let store = try openStore(at: folder, migrate: .never)
  say("ready")
  _ = readLine()
  switch try await store.seed(from: path, named: "first") {
  case .applied(let counts): say("applied \(counts.values.reduce(0, +))")
  case .appliedBefore(_, let objects): say("before \(objects)")
  }
}

/// Runs or resumes the write of `CrashPlan`, with a line of output per row.
private func writeChunks(_ folder: String) async throws {
  // Several chunks share a commit, and the write has several commits.
  let store = try openStore(at: folder, migrate: .never, commitDuration: .milliseconds(2))
  _ = try await CrashPlan.write(to: store) { row in say("row \(row)") }
  say("done")
}

/// Runs or resumes a batch of `BatchPlan`, and prints a line per commit.
private func runBatch(_ folder: String, _ name: String) async throws {
  guard let plan = BatchPlan(rawValue: name) else { return say("unknown batch: \(name)") }
  let store = try openStore(at: folder, migrate: .never)
  let result = try await plan.run(on: store) { say("done \($0.done)") }
  say("changed \(result.counts.changed)")
}

/// Runs or resumes the load of `LoadPlan`, and prints a line per commit.
private func load(_ folder: String) async throws {
  let store = try openStore(at: folder, migrations: [LoadPlan.source], migrate: .never)
  let result = try await LoadPlan.run(on: store) { say("\($0)") }
  say("loaded \(result.counts.inserted)")
}

/// Writes until the store is full, prints the results of the last groups, waits for a line of
/// input, and writes again.
private func fill(_ folder: String, bytesMax: Int) async throws {
  let store = try openStore(at: folder, migrate: .never)
  if bytesMax > 0 { try limitFiles(to: bytesMax) }
  let written = await writeUntilFull(store)
  say("full \(written.outcomes.sorted().joined(separator: " "))")
  say("reads \(try store.read { try $0.count(of: "Sample") } == written.rows)")
  say("clean \(try store.checkIntegrity().isClean)")
  _ = readLine()
  if bytesMax > 0 { try limitFiles(to: bytesMax * 4) }
  try await store.write { _ = try $0.insert("Sample", ["name": "after"]) }
  say("clean \(try store.checkIntegrity().isClean)")
  say("reads \(try store.read { try $0.count(of: "Sample") } == written.rows + 1)")
}

/// Groups of eight writes, until all of a group fail.
///
/// - Returns: the rows of the writes that went through, and the distinct errors of the others.
private func writeUntilFull(_ store: Store) async -> (rows: Int, outcomes: Set<String>) {
  var rows = 0
  var outcomes: Set<String> = []
  for batch in 0..<10_000 {
    let results = await withTaskGroup(of: String?.self) { group in
      for member in 0..<8 {
        group.addTask {
          do {
            try await store.write { transaction in
              let values: [String: Value] = [
                "name": .string("b\(batch) \(member)"),
                "blob": .data(Data(repeating: UInt8(member), count: 9_000)),
              ]
              _ = try transaction.insert("Sample", values)
            }
            return nil
          } catch {
            return describe(error)
          }
        }
      }
      return await group.reduce(into: [String?]()) { $0.append($1) }
    }
    rows += results.filter { $0 == nil }.count
    outcomes.formUnion(results.compactMap { $0 })
    if results.allSatisfy({ $0 != nil }) { break }
  }
  return (rows, outcomes)
}

private func describe(_ error: any Error) -> String {
  (error as? StoreError).map { "\($0.code)" } ?? "unexpected:\(error)"
}

private func limitFiles(to bytes: Int) throws {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  limit.rlim_cur = rlim_t(bytes)
  guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
  }
}
