import EntityStore
import Foundation
import Maintenance
import Migrations
import TestSupport

extension PreparedWork {
  private static let rows = 30

  private static var unflushed: Store.Options {
    var options = Store.Options()
    options.mapSize = 1 << 30
    options.flushesCommits = false
    return options
  }

  /// A compaction, after which the data file is the old one or the new one.
  static func compact(in root: String) async throws -> PreparedWork {
    let path = root + "/store"
    try await Ledger.write(rows: rows, at: path)
    try await Ledger.makeRoom(at: path)
    let bytes = try size(of: path)
    return PreparedWork { recorder, _ in
      try recorder.run(["backup-compact", recorder.path("store")], input: ["go"])
    } problems: { image, acknowledged in
      let folder = image + "/store"
      guard try Ledger.rows(at: folder) == rows else { return ["rows are missing"] }
      let isSmall = try size(of: folder) < bytes
      if acknowledged.contains("done"), !isSmall { return ["it has its old size"] }
      // What an interrupted one has left is not in the way.
      try Store.compact(at: folder, options: unflushed)
      return try Ledger.rows(at: folder) == rows ? [] : ["rows are lost"]
    }
  }

  /// A backup into new folders, which is whole or absent.
  static func backup(in root: String) async throws -> PreparedWork {
    try await Ledger.write(rows: rows, at: root + "/store")
    return PreparedWork { recorder, _ in
      try recorder.run(
        ["backup-make", recorder.path("store"), recorder.path("backups/new/monday")],
        input: ["go"])
    } problems: { image, acknowledged in
      let (folder, target) = (image + "/store", image + "/backups/new/monday")
      guard try Ledger.rows(at: folder) == rows else { return ["rows are missing"] }
      if !FileManager.default.fileExists(atPath: target) {
        if acknowledged.contains("done") { return ["the backup is missing"] }
        _ = try openStore(at: folder, migrate: .never).backUp(to: target)
      }
      return try Ledger.rows(at: target) == rows ? [] : ["rows are missing in the backup"]
    }
  }

  /// A restore, after which the store is the old one or the backup; the replaced file is kept.
  static func restore(in root: String) async throws -> PreparedWork {
    let (path, copy) = (root + "/store", root + "/copy")
    try await Ledger.write(rows: rows, at: path)
    _ = try openStore(at: path, migrate: .never).backUp(to: copy)
    try await Ledger.write(rows: 7, at: path)
    return PreparedWork { recorder, _ in
      try recorder.run(
        ["backup-restore", recorder.path("store"), recorder.path("copy")], input: ["go"])
    } problems: { image, acknowledged in
      let (folder, copy) = (image + "/store", image + "/copy")
      let found = try Ledger.rows(at: folder)
      guard found == rows || found == rows + 7 else { return ["\(found) rows"] }
      if acknowledged.contains("done"), found != rows { return ["the old store is there"] }
      if found == rows {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        guard let kept = names.first(where: { $0.contains("replaced-") }) else {
          return ["the replaced file is lost"]
        }
        try FileManager.default.createDirectory(
          atPath: image + "/kept", withIntermediateDirectories: false)
        try FileManager.default.copyItem(
          atPath: folder + "/" + kept, toPath: image + "/kept/data.mdb")
        guard try Ledger.rows(at: image + "/kept") == rows + 7 else {
          return ["rows of the replaced file are missing"]
        }
      }
      try Store.restore(from: copy, to: folder, opening: unflushed)
      return try Ledger.rows(at: folder) == rows ? [] : ["rows are lost"]
    }
  }

  private static func size(of folder: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: folder + "/data.mdb")[.size] as? Int ?? 0
  }
}
