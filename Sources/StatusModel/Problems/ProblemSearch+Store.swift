import Foundation

extension ProblemSearch {
  private static let mapShareMax = 0.8
  /// The transactions after which a snapshot keeps so many pages from use that it matters.
  private static let readerAgeMax = 1_000
  private static let unreadMax = 10_000
  private static let backupAgeMax = 8 * 86_400.0

  mutating func searchStore() {
    let file = status.file
    if let free = file.volumeFreeBytes, Int64(free) < file.reserveBytes {
      add(
        .critical, .store,
        "the disk is full: \(size(Int64(free))) are free, and the worker waits for "
          + size(file.reserveBytes),
        advice: "make room on the volume of \(status.folder); the worker then goes on by itself")
    }
    if file.mapShare > Self.mapShareMax {
      add(
        file.mapShare > 0.95 ? .critical : .warning, .store,
        "the file uses \(Int(file.mapShare * 100)) % of its address space",
        advice: "set $MOORING_MAP_SIZE to twice as much, and restart what has the store open")
    }
    if let reader = file.oldestReader, reader.age > Self.readerAgeMax {
      let command = reader.command.isEmpty ? "" : " (\(reader.command))"
      add(
        .warning, .store,
        "process \(reader.process)\(command) has read one snapshot for \(reader.age) transactions, "
          + "so that the file grows",
        advice: "end the read, or the process")
    }
    if let check = status.check, check.problems > 0 {
      add(
        .critical, .store, "the last check has found \(count(check.problems, "problem"))",
        since: check.at,
        advice: "`mooring check` lists them; restore a backup: `mooring restore`")
    }
  }

  private func size(_ bytes: Int64) -> String {
    bytes < 10_000_000_000 ? "\(bytes / 1_000_000) MB" : "\(bytes / 1_000_000_000) GB"
  }

  mutating func searchHistory() {
    for consumer in status.history.consumers {
      if consumer.isExpired {
        add(
          .warning, .history,
          "the consumer \(consumer.name) has missed changes that are no longer stored",
          since: consumer.updatedAt, advice: "it must read everything again")
      } else if consumer.unread > Self.unreadMax {
        add(
          .warning, .history,
          "the consumer \(consumer.name) has not read \(consumer.unread) transactions",
          since: consumer.updatedAt,
          advice: "start the program that reads them, or remove the consumer")
      }
    }
  }

  mutating func searchMigrations() {
    let migrations = status.migrations
    if let underWay = migrations.underWay, migrations.holder == nil {
      add(
        .warning, .migrations,
        "the migration \(underWay.line) \(underWay.name) was interrupted in step \(underWay.step)"
          + (underWay.lastError.map { ": \($0)" } ?? ""),
        since: underWay.since, advice: "go on: `mooring migrate up`")
    } else if let first = migrations.pending.first, migrations.underWay == nil {
      let others = migrations.pending.count - 1
      add(
        .warning, .migrations,
        "the store lacks \(count(migrations.pending.count, "migration")): \(first)"
          + (others > 0 ? " and \(others) more" : ""),
        advice: "see `mooring migrate plan`, then `mooring migrate up`")
    }
  }

  mutating func searchBackups() {
    let present = status.backups.filter(\.exists)
    if let bad = present.first(where: { !$0.isSound }) {
      add(
        .critical, .backups, "the backup \(bad.path) is damaged", since: bad.verifiedAt,
        advice: "make another one: `mooring backup FOLDER`")
    }
    guard let newest = present.first else {
      let text =
        status.backups.isEmpty
        ? "no backup is known" : "no backup that is known is still in its place"
      add(.note, .backups, text, advice: "make one: `mooring backup FOLDER`")
      return
    }
    if status.at.timeIntervalSince(newest.madeAt) > Self.backupAgeMax {
      add(
        .warning, .backups, "the newest backup is older than a week", since: newest.madeAt,
        advice: "make one: `mooring backup FOLDER`")
    }
  }
}
