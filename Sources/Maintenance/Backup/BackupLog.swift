public import EntityStore
public import Foundation

/// A backup of a store, as the file `backups.json` in the store's folder lists it.
public struct RecordedBackup: Codable, Hashable, Sendable {
  /// The path of the backup's folder. It may have been moved or removed since.
  public let path: String
  public let madeAt: Date
  public let bytes: Int
  /// The number of the last transaction that is in it.
  public let transaction: Int64
}

extension Store {
  /// The backups that are listed.
  private static let backupsListedMax = 20
  private static let backupLog = "backups.json"

  /// Returns the backups that were recorded for the store in a folder, the newest first; at most
  /// 20.
  public static func recordedBackups(at folder: String) -> [RecordedBackup] {
    StoreNote.read(backupLog, inStore: folder) ?? []
  }

  /// Records a backup that was made by `backUp(to:)`. Does nothing for a user who may not write to
  /// the store's folder: the backup is complete all the same.
  public func record(_ backup: BackupReport) {
    let new = RecordedBackup(
      path: backup.path, madeAt: now(), bytes: backup.bytes, transaction: backup.transaction)
    let others = Self.recordedBackups(at: folder).filter { $0.path != backup.path }
    let backups = Array(([new] + others).prefix(Self.backupsListedMax))
    _ = StoreNote.write(backups, Self.backupLog, inStore: folder)
  }
}
