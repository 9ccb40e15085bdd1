import Foundation

/// The reason why the value of a column with external storage cannot be read.
package enum ExternalBlobFailure: String, Error, Hashable, Sendable, CaseIterable {
  /// There is no such file.
  case missing
  /// The cell contains no valid file name, or there is a link or a special file in its place.
  case unsafe
  /// The first byte is unknown.
  case unknownPrefix
  case tooLarge
  /// The system refuses to open or read the file.
  case unreadable
}

/// The files beside a Core Data store that hold the long values of attributes with external
/// storage.
///
/// ```
/// cell:  0x01, the value      or      0x02, the name of a file, perhaps 0x00
/// file:  .<store without extension>_SUPPORT/_EXTERNAL_DATA/<name>, where the name is a UUID
/// ```
///
/// Cells are not trusted: the name must be a UUID, no link is followed below the folder of the
/// store, and only a regular file is read.
package struct ExternalBlobs: Sendable {
  private static let inlinePrefix: UInt8 = 1
  private static let filePrefix: UInt8 = 2
  /// The greatest number of names that are listed, for the count of unused files.
  private static let namesMax = 1_000_000

  private let folder: String
  private let steps: [String]

  /// - Parameter source: The path of the store itself, not of a copy.
  package init(source: String) {
    let url = URL(filePath: source)
    folder = url.deletingLastPathComponent().path
    let name = url.deletingPathExtension().lastPathComponent
    steps = [".\(name)_SUPPORT", "_EXTERNAL_DATA"]
  }

  /// Returns the value of a cell, read from its file if it has one. Null is null.
  ///
  /// - Throws: Also for a value beyond `Limits.cellBytesMax`, which is not read.
  package func value(_ cell: Cell) throws(ExternalBlobFailure) -> Cell {
    switch cell {
    case .null: return .null
    case .oversized: throw .tooLarge
    case .blob(let bytes) where bytes.first == Self.inlinePrefix:
      return .blob(Array(bytes.dropFirst()))
    default:
      guard let name = try Self.fileName(cell) else { throw .unknownPrefix }
      return .blob(try content(of: name))
    }
  }

  /// Returns the name of the file that a cell refers to; `nil` if it holds its value itself, or
  /// none.
  ///
  /// - Throws: `unsafe` for a name that is no UUID.
  package static func fileName(_ cell: Cell) throws(ExternalBlobFailure) -> String? {
    guard case .blob(let bytes) = cell, bytes.first == filePrefix else { return nil }
    var name = bytes.dropFirst()
    if name.last == 0 { name.removeLast() }
    guard let text = String(validating: name, as: UTF8.self), text.utf8.count == 36,
      UUID(uuidString: text) != nil
    else { throw .unsafe }
    return text
  }

  /// Returns the names of all files in the folder; none if there is no such folder.
  ///
  /// - Throws: `unsafe`, `unreadable`.
  package func fileNames() throws(ExternalBlobFailure) -> Set<String> {
    let descriptor: Int32
    do {
      descriptor = try openFolder()
    } catch .missing {
      return []
    }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      throw .unreadable
    }
    defer { closedir(stream) }
    var names: Set<String> = []
    while names.count < Self.namesMax, let entry = readdir(stream) {
      // SAFETY: the system ends the name with a zero byte within the field, which stays as it is
      // until the next call.
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
          String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.insert(name) }
    }
    return names
  }

  // MARK: Files

  private func content(of name: String) throws(ExternalBlobFailure) -> [UInt8] {
    let directory = try openFolder()
    defer { close(directory) }
    // A pipe must not make the import wait.
    let file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Self.failure() }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .unsafe }
    guard status.st_size <= Limits.cellBytesMax else { throw .tooLarge }
    // The file may grow while it is read: its value is what it had at first.
    let size = Int(status.st_size)
    guard let bytes = readBytes(of: file, at: 0, count: size), bytes.count == size else {
      throw .unreadable
    }
    return bytes
  }

  private func openFolder() throws(ExternalBlobFailure) -> Int32 {
    var directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for step in steps {
      guard directory >= 0 else { throw Self.failure() }
      let next = openat(directory, step, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      let failure = Self.failure()
      close(directory)
      guard next >= 0 else { throw failure }
      directory = next
    }
    return directory
  }

  private static func failure() -> ExternalBlobFailure {
    switch errno {
    case ENOENT: .missing
    case ELOOP, ENOTDIR: .unsafe
    default: .unreadable
    }
  }
}
