import EntityModel
import EntityStore
import Foundation

extension JobRows {
  /// The registered runners.
  ///
  /// `isAlive` is not part of the snapshot: a runner that has left after the snapshot was taken
  /// counts as dead.
  func runners(of store: Store) throws -> [JobRunnerStatus] {
    let layout = try snapshot.layout(RunnerRecord.entity)
    let column = { (name: String) in try layout.position(of: name) }
    let (process, host, command) = (
      try column("process"), try column("host"), try column("command")
    )
    let (started, stopped) = (try column("startedAt"), try column("stoppedAt"))
    let kinds = try column("kinds")
    var runners: [JobRunnerStatus] = []
    try snapshot.eachRow(of: layout) { row in
      runners.append(
        JobRunnerStatus(
          epoch: row.id, process: row.int64(process) ?? 0,
          host: try row.value(host).stringValue ?? "",
          command: try row.value(command).stringValue ?? "",
          startedAt: try row.value(started).dateValue ?? .distantPast,
          stoppedAt: try row.value(stopped).dateValue,
          kinds: (try row.value(kinds).stringValue ?? "").split(separator: ",").map(String.init),
          isAlive: try RunnerLease.isAlive(row.id, in: store)))
      return true
    }
    return runners
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
