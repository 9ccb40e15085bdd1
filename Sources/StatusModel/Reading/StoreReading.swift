import EntityStore
import Foundation
import Maintenance
import StoreHub
import SystemSupport

extension StatusReader {
  func file(_ transaction: ReadTransaction, _ now: Date) throws -> FileStatus {
    let sizes = try store.statistics(in: transaction)
    return FileStatus(
      bytes: sizes.fileBytes, usedBytes: (sizes.pagesUsed - sizes.pagesFree) * sizes.pageSize,
      freePages: sizes.pagesFree, pageBytes: sizes.pageSize, mapBytes: sizes.mapBytes,
      volumeFreeBytes: store.freeBytesOfVolume, reserveBytes: reserveBytes,
      trees: sizes.trees.map {
        TreeStatus(
          name: $0.name, content: $0.content.words, entries: $0.entries, bytes: $0.bytes)
      },
      entities: sizes.trees.compactMap { tree in
        guard case .records(let entity) = tree.content, !entity.hasPrefix("_") else { return nil }
        return EntityStatus(name: entity, records: tree.entries)
      }.sorted { $0.name < $1.name },
      oldestReader: try oldestReader(transaction),
      usedBytesADayAgo: try usedBytes(daysAgo: 1, transaction, now),
      usedBytesAWeekAgo: try usedBytes(daysAgo: 7, transaction, now))
  }

  private func oldestReader(_ transaction: ReadTransaction) throws -> ReaderStatus? {
    guard let oldest = try store.readers().first else { return nil }
    return ReaderStatus(
      process: oldest.process, command: LockHolder(process: oldest.process).command,
      age: max(0, transaction.number - oldest.transaction))
  }

  func history(_ transaction: ReadTransaction) throws -> HistoryStatus {
    HistoryStatus(
      transactions: try transaction.historyCount,
      consumers: try transaction.historyConsumers().map {
        HistoryStatus.Consumer(
          name: $0.name, unread: $0.unread, updatedAt: $0.updatedAt, isExpired: $0.isExpired)
      })
  }

  /// The backups that are recorded, each with the last check of the copy.
  func backups() -> [BackupStatus] {
    Store.recordedBackups(at: store.folder).map { backup in
      // A copy is read back before it gets its name.
      let check = RecordedCheck.last(at: backup.path).flatMap { $0.at > backup.madeAt ? $0 : nil }
      return BackupStatus(
        path: backup.path, madeAt: backup.madeAt, bytes: backup.bytes,
        exists: FileManager.default.fileExists(atPath: backup.path + "/data.mdb"),
        verifiedAt: check?.at ?? backup.madeAt, isSound: check?.problems ?? 0 == 0)
    }
  }

  func check() -> CheckStatus? {
    RecordedCheck.last(at: store.folder).map { CheckStatus(at: $0.at, problems: $0.problems) }
  }

  func hub() throws -> HubStatus? {
    let membership = try translatingStorageErrors {
      try HubMembership.read(inStore: store.folder)
    }
    guard let membership else { return nil }
    return HubStatus(
      name: membership.name, machine: membership.machineName, entry: try store.newestHubEntry)
  }
}

extension StoredTree.Content {
  /// The content of a tree in words.
  fileprivate var words: String {
    switch self {
    case .freeList: "free pages"
    case .names: "names of trees"
    case .catalog: "catalog"
    case .history: "change history"
    case .records(let entity): "records of \(entity)"
    case .index(let entity, let name): "index \(name) of \(entity)"
    case .build(let entity): "build of a migration for \(entity)"
    case .orphan: "not in the catalog"
    }
  }
}
