import EntityModel
import EntityStore
import Foundation

/// A runner as the store knows it.
struct RunnerRow {
  let epoch: Int64
  let isStopping: Bool

  /// All but one.
  static func others(than epoch: Int64?, in transaction: ReadTransaction) throws -> [RunnerRow] {
    var rows: [RunnerRow] = []
    let layout = try transaction.layout(RunnerRecord.entity)
    let stopped = try layout.position(of: "stoppedAt")
    try transaction.eachRow(of: layout) { row in
      if row.id != epoch {
        rows.append(RunnerRow(epoch: row.id, isStopping: try row.value(stopped) != .null))
      }
      return true
    }
    return rows
  }
}

extension JobTable {
  /// From now on a death of the runner counts against none of its jobs.
  func noteStopping(_ epoch: Int64) throws {
    let id = ObjectID(entity: RunnerRecord.entity, number: epoch)
    guard try transaction.get(id) != nil else { return }
    try transaction.update(id) { try $0.set("stoppedAt", to: .date(now)) }
  }

  /// Forgets a runner, unless it has something running still: then it is to be taken over first.
  func removeRunner(_ epoch: Int64) throws {
    guard try running(under: epoch).isEmpty else { return }
    try transaction.delete(ObjectID(entity: RunnerRecord.entity, number: epoch))
  }
}
