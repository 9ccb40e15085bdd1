import EntityModel
import EntityStore
import Foundation

extension JobQueue {
  /// Sets a schedule: a new one, or a new form of the one with this name. Its first time is the first
  /// after now; a form with the same expression and zone keeps the next time of the one before.
  ///
  /// - Returns: Whether it is new.
  /// - Throws: `invalidSchedule` for a name that is not allowed; as `enqueue` for its request.
  @discardableResult
  public func setSchedule(_ schedule: JobSchedule) async throws -> Bool {
    guard JobName.isValid(schedule.name) else {
      throw JobError(
        .invalidSchedule, "a schedule has a name that is not allowed", [("name", schedule.name)],
        advice: "use 1 to 64 letters, digits, dots, dashes and underscores")
    }
    try schedule.request.check(at: store.now())
    return try await store.write(author: "jobs") { transaction in
      let key: [String: Value] = ["name": .string(schedule.name)]
      let before = try transaction.get(ScheduleRecord.entity, by: key)
      var next = schedule
      next.nextAt = schedule.recurrence.next(after: transaction.now)
      var values = try next.values()
      if let before {
        for name in ["lastAt", "lastJob"] { values[name] = try before[name] }
        let isSame = try ["expression", "zone"].allSatisfy { try before[$0] == values[$0] }
        // Who has paused it has not asked for what it misses, and resumes it by hand.
        let isPaused = try before["isPaused"] == .bool(true) && before["error"] == .null
        if isPaused { values["isPaused"] = .bool(true) }
        if isSame, try before["isPaused"] != .bool(true) {
          values["nextAt"] = try before["nextAt"]
        }
      }
      try transaction.upsert(ScheduleRecord.entity, values, by: ["name"])
      return before == nil
    }
  }

  /// Stops a schedule, or lets it go on from now: what was missed meanwhile is not made up for.
  ///
  /// - Throws: `unknownSchedule`.
  public func setSchedulePaused(_ name: String, _ isPaused: Bool) async throws {
    try await changeSchedule(name) { transaction, id in
      let next = try transaction.get(id).map(JobSchedule.init)?.recurrence
        .next(after: transaction.now)
      try transaction.update(id) { record in
        try record.set("isPaused", to: .bool(isPaused))
        try record.set("error", to: .null)
        if !isPaused { try record.set("nextAt", to: next.map(Value.date) ?? .null) }
      }
    }
  }

  /// Removes a schedule. The jobs that it has made stay.
  ///
  /// - Throws: `unknownSchedule`.
  public func removeSchedule(_ name: String) async throws {
    try await changeSchedule(name) { try $0.delete($1) }
  }

  private func changeSchedule<R: Sendable>(
    _ name: String, _ body: @escaping @Sendable (WriteTransaction, ObjectID) throws -> R
  ) async throws {
    _ = try await store.write(author: "jobs") { transaction in
      guard let id = try transaction.objectID(ScheduleRecord.entity, by: ["name": .string(name)])
      else {
        throw JobError(
          .unknownSchedule, "there is no such schedule", [("schedule", name)],
          advice: "see `mooring jobs schedules`")
      }
      return try body(transaction, id)
    }
  }
}
