import Console
import Foundation
import StatusModel

extension Page {
  /// The file, the history, migrations, backups, the hub.
  static func store(_ status: StoreStatus) throws -> Page {
    struct Document: Encodable {
      let file: FileStatus
      let history: HistoryStatus
      let migrations: MigrationsStatus
      let backups: [BackupStatus]
      let check: CheckStatus?
      let hub: HubStatus?
    }
    var page = Page(
      "Store",
      json: try JSONText.of(
        Document(
          file: status.file, history: status.history, migrations: status.migrations,
          backups: status.backups, check: status.check, hub: status.hub)))
    let times = Times(now: status.at)
    page.blocks.append(.facts("File", file(status, times)))
    page.blocks.append(.table(backups(status.backups, times)))
    page.blocks.append(.table(consumers(status.history, times)))
    page.blocks.append(.table(trees(status.file)))
    return page
  }

  private static func file(
    _ status: StoreStatus, _ times: Times
  ) -> [(String, WebTable.Cell)] {
    let file = status.file
    let migrations = status.migrations
    return [
      ("folder", .init(status.folder)), ("size", .init(Times.bytes(file.bytes))),
      ("in use", .init(Times.bytes(file.usedBytes))),
      ("a day ago", .init(file.usedBytesADayAgo.map(Times.bytes) ?? "")),
      ("a week ago", .init(file.usedBytesAWeekAgo.map(Times.bytes) ?? "")),
      ("free pages", .init(Times.count(file.freePages))),
      ("part of the map", .init("\(Int(file.mapShare * 100)) % of \(Times.bytes(file.mapBytes))")),
      ("free on the disk", .init(file.volumeFreeBytes.map(Times.bytes) ?? "")),
      (
        "oldest reader",
        .init(
          file.oldestReader.map {
            "process \($0.process), \(Times.count($0.age)) transactions: \($0.command)"
          } ?? "none")
      ),
      ("transaction", .init(Times.count(status.transaction))),
      ("history", .init("\(Times.count(Int(status.history.transactions))) transactions")),
      (
        "migrations",
        .init(
          "\(migrations.applied) applied"
            + (migrations.pending.isEmpty
              ? "" : ", pending: \(migrations.pending.joined(separator: ", "))"))
      ),
      (
        "last check",
        .init(
          status.check.map { check in
            "\(check.problems == 0 ? "clean" : "\(check.problems) problems"), "
              + times.relative(check.at)
          } ?? "none is known")
      ),
      (
        "hub",
        .init(
          status.hub.map { "\($0.name), as \($0.machine), at entry \($0.entry)" } ?? "")
      ),
    ]
  }

  private static func backups(_ backups: [BackupStatus], _ times: Times) -> WebTable {
    var table = WebTable(
      "backups", "Backups",
      [
        .init("path"), .init("made"), .init("verified"), .number("size"), .init("note"),
      ], empty: "None is known. Make one: mooring backup FOLDER")
    for backup in backups {
      let note = !backup.exists ? "not there any more" : backup.isSound ? "" : "damaged"
      table.append([
        .init(backup.path), times.cell(backup.madeAt), times.cell(backup.verifiedAt),
        .init(Times.bytes(backup.bytes)), .init(note),
      ])
    }
    return table
  }

  private static func consumers(_ history: HistoryStatus, _ times: Times) -> WebTable {
    var table = WebTable(
      "consumers", "Consumers of the history",
      [.init("name"), .number("unread"), .init("advanced"), .init("note")], empty: "None.")
    for consumer in history.consumers {
      table.append([
        .init(consumer.name), .init(Times.count(Int(consumer.unread))),
        times.cell(consumer.updatedAt), .init(consumer.isExpired ? "has missed changes" : ""),
      ])
    }
    return table
  }

  private static func trees(_ file: FileStatus) -> WebTable {
    var table = WebTable(
      "trees", "Trees", [.init("content"), .number("entries"), .number("size"), .init("name")],
      empty: "None.")
    for tree in file.trees.sorted(by: { ($1.bytes, $0.name) < ($0.bytes, $1.name) }) {
      table.append([
        .init(tree.content), .init(Times.count(tree.entries)), .init(Times.bytes(tree.bytes)),
        .init(tree.name),
      ])
    }
    return table
  }
}
