import EntityModel
import EntityStore
import Foundation

extension JobRows {
  /// The registered runners.
  ///
  /// `isAlive` is not part of the snapshot: a runner that has left after the snapshot was taken
  /// counts as dead.
  func runners(of store: Store) throws -> [JobRunnerStatus] {
    try snapshot.fetch(FetchRequest(entityName: RunnerRecord.entity)).map { record in
      let epoch = record.id.number
      return JobRunnerStatus(
        epoch: epoch, process: try record["process"].int64Value ?? 0,
        host: try record["host"].stringValue ?? "",
        command: try record["command"].stringValue ?? "",
        startedAt: try record["startedAt"].dateValue ?? .distantPast,
        stoppedAt: try record["stoppedAt"].dateValue,
        kinds: (try record["kinds"].stringValue ?? "").split(separator: ",").map(String.init),
        isAlive: try RunnerLease.isAlive(epoch, in: store))
    }
  }
}

extension [JobRunnerStatus] {
  /// The kinds of the live runners that are not stopping.
  var kindsServed: Set<String> {
    Set(filter(\.claimsJobs).flatMap(\.kinds))
  }
}

extension JobRunnerStatus {
  /// True if the runner lives and is not stopping.
  public var claimsJobs: Bool { isAlive && stoppedAt == nil }
}
