import EntityStore
import Foundation
import Migrations
import SystemSupport

/// The migrations that a store lacks. The files are read once: they belong to the program.
final class MigrationSurvey: Sendable {
  private let lines = Locked<[MigrationLine]?>(nil)

  func status(of store: Store) throws -> MigrationsStatus {
    let state = try store.migrationState(lines: try knownLines(of: store))
    let history = try store.migrationHistory()
    return MigrationsStatus(
      applied: history.count,
      pending: (state.pending + state.unmet).map { "\($0.line) \($0.name)" },
      underWay: try store.migrationUnderWay().map(Self.status),
      holder: Store.migrationHolder(at: store.folder))
  }

  private func knownLines(of store: Store) throws -> [MigrationLine] {
    try lines.withLock { lines in
      if let lines { return lines }
      let read = try store.migrationLines
      lines = read
      return read
    }
  }

  private static func status(_ underWay: MigrationUnderWay) -> MigrationsStatus.UnderWay {
    let running = underWay.migration
    return MigrationsStatus.UnderWay(
      line: running.line, name: running.name, step: underWay.step, steps: underWay.steps,
      text: underWay.text, since: Date(timeIntervalSince1970: running.startedAt),
      lastError: running.lastError)
  }
}
