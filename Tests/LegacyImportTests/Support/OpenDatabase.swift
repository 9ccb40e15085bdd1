import CMooringSQLite
import Foundation
import LegacyImport

/// A connection of another program, which stays open.
// @unchecked: SQLite's default is that a connection may be used by all threads.
final class OpenDatabase: @unchecked Sendable {
  struct Failure: Error { let message: String }

  private let handle: OpaquePointer

  init(_ path: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
      sqlite3_close(opened)
      throw Failure(message: "SQLite does not open \(path)")
    }
    handle = opened
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw Failure(message: String(cString: sqlite3_errmsg(handle)) + " in: " + sql)
    }
  }
}

/// The content of a folder: names, contents and modification times.
struct FolderState: Equatable {
  private let files: [String: [String]]

  init(_ folder: String) throws {
    var files: [String: [String]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let path = folder + "/" + name
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
      guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
      let bytes = try Data(contentsOf: URL(filePath: path))
      files[name] = [String(modified), String(bytes.count), String(bytes.hashValue)]
    }
    self.files = files
  }
}

extension RowReader {
  /// All rows.
  func all() throws -> [SourceRow] {
    var rows: [SourceRow] = []
    while let row = try next() { rows.append(row) }
    return rows
  }
}
