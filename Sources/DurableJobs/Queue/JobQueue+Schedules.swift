import EntityModel
import EntityStore
import Foundation

extension JobQueue {
  /// Adds a schedule, or replaces the one with this name. Its first time is the first after now; if
  /// the expression and the zone have not changed, the next time of the replaced one is kept.
  ///
  /// - Returns: `true` if no schedule had the name.
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
      next.request = schedule.request.bound(to: transaction.machineName) ?? schedule.request
      next.nextAt = schedule.recurrence.next(after: transaction.now)
      var values = try next.values()
      if let before {
        for name in ["lastAt", "lastJob"] { values[name] = try before[name] }
        let isSame = try ["expression", "zone"].allSatisfy { try before[$0] == values[$0] }
        // A schedule that was paused stays paused, and does not run the times in between.
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

  /// Removes a schedule. The jobs that it has enqueued stay.
  ///
  /// - Throws: `unknownSchedule`.
  public func removeSchedule(_ name: String) async throws {
    try await store.write(author: "jobs") { transaction in
      guard let id = try transaction.objectID(ScheduleRecord.entity, by: ["name": .string(name)])
      else {
        throw JobError(
          .unknownSchedule, "there is no such schedule", [("schedule", name)],
          advice: "see `mooring jobs schedules`")
      }
      try transaction.delete(id)
    }
  }
}
