import Foundation
import Glibc
import TestSupport

/// The folder that was recorded, as processes see it and as it is after a loss of power.
///
/// The model promises what POSIX does, and what journaling file systems keep: the changes of a
/// folder are kept in their order, and a rename is done as a whole or not at all. Nothing is
/// durable but by a flush of the file, and names by a flush of their folder.
struct Disk: Sendable {
  struct Unexplained: Error, CustomStringConvertible { let description: String }

  /// One call's changes of names: two for a rename. No object: the name is gone.
  private struct NameChange {
    let names: [(folder: Int, name: String, object: Int?)]
    var folders: Set<Int> { Set(names.map(\.folder)) }
  }

  private static let root = 0
  private var files: [Int: DiskFile] = [:]
  /// The names that processes see, by folder.
  private var folders: [Int: [String: Int]] = [root: [:]]
  /// Those that are on the disk.
  private var flushedFolders: [Int: [String: Int]] = [root: [:]]
  /// The changes that are not, in order.
  private var changes: [NameChange] = []
  /// The object that has an inode number, which is used again after a removal.
  private var objects: [UInt64: Int] = [:]
  private var lastObject = root

  /// Creates the model of an existing folder, all of which is on the disk.
  init(of folder: String) throws {
    objects[UInt64(try Self.status(of: folder).st_ino)] = Self.root
    for path in try Self.paths(in: folder) {
      let status = try Self.status(of: folder + "/" + path)
      let (parent, name) = try place(of: path)
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      let object = add(inode: UInt64(status.st_ino), isFolder: isFolder)
      folders[parent]?[name] = object
      if isFolder { continue }
      let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + path))
      files[object] = DiskFile(flushed: [UInt8](bytes))
    }
    flushedFolders = folders
  }

  // MARK: Events

  mutating func apply(_ event: RecordedEvent) throws {
    switch event {
    case .createdFile(let path, let inode):
      try change(path, to: add(inode: inode, isFolder: false))
    case .createdFolder(let path, let inode):
      try change(path, to: add(inode: inode, isFolder: true))
    case .removed(let path): try change(path, to: nil)
    case .renamed(let path, let target): try rename(path, to: target)
    case .linked(let path, let target): try change(target, to: try object(at: path))
    case .wrote(let inode, let offset, let bytes):
      try changeFile(inode) { $0.add(.write(offset: offset, bytes)) }
    case .truncated(let inode, let size): try changeFile(inode) { $0.add(.resize(size)) }
    case .flushed(let inode):
      guard let object = objects[inode] else { throw unknown(inode) }
      if folders[object] == nil { files[object]?.flush() } else { flushNames(of: object) }
    case .flushedRange(let inode, let range): try changeFile(inode) { try $0.flush(range) }
    case .output: break
    }
  }

  private mutating func add(inode: UInt64, isFolder: Bool) -> Int {
    lastObject += 1
    objects[inode] = lastObject
    if isFolder {
      (folders[lastObject], flushedFolders[lastObject]) = ([:], [:])
    } else {
      files[lastObject] = DiskFile()
    }
    return lastObject
  }

  private mutating func change(_ path: String, to object: Int?) throws {
    let (folder, name) = try place(of: path)
    change(NameChange(names: [(folder, name, object)]))
  }

  private mutating func rename(_ path: String, to target: String) throws {
    guard !path.isEmpty, !target.isEmpty else {
      throw Unexplained(description: "\(path)\(target) was moved into or out of the folder")
    }
    let (old, new) = (try place(of: path), try place(of: target))
    let object = try object(at: path)
    change(NameChange(names: [(old.folder, old.name, nil), (new.folder, new.name, object)]))
  }

  private mutating func change(_ change: NameChange) {
    for name in change.names { folders[name.folder]?[name.name] = name.object }
    changes.append(change)
  }

  private mutating func changeFile(_ inode: UInt64, _ body: (inout DiskFile) throws -> Void) throws
  {
    guard let object = objects[inode], var file = files[object] else { throw unknown(inode) }
    // Not copied while it is changed.
    files[object] = nil
    defer { files[object] = file }
    try body(&file)
  }

  /// Makes the changes of a folder durable. With a rename between two folders go the
  /// earlier changes of the other one, whose order is kept.
  private mutating func flushNames(of folder: Int) {
    var flushed: Set = [folder]
    var isFlushed = [Bool](repeating: false, count: changes.count)
    for (number, change) in changes.enumerated().reversed()
    where !change.folders.isDisjoint(with: flushed) {
      isFlushed[number] = true
      flushed.formUnion(change.folders)
    }
    for (change, isFlushed) in zip(changes, isFlushed) where isFlushed {
      for name in change.names { flushedFolders[name.folder]?[name.name] = name.object }
    }
    changes = zip(changes, isFlushed).filter { !$0.1 }.map(\.0)
  }

  private func place(of path: String) throws -> (folder: Int, name: String) {
    var names = path.split(separator: "/").map(String.init)
    guard let last = names.popLast() else { throw Unexplained(description: "an empty path") }
    let folder = try names.reduce(Self.root) { folder, name in
      guard let object = folders[folder]?[name] else {
        throw Unexplained(description: "nothing has created the folder of \(path)")
      }
      return object
    }
    return (folder, last)
  }

  private func object(at path: String) throws -> Int {
    let (folder, name) = try place(of: path)
    guard let object = folders[folder]?[name] else {
      throw Unexplained(description: "nothing has created \(path)")
    }
    return object
  }

  private func unknown(_ inode: UInt64) -> Unexplained {
    Unexplained(description: "nothing has created the file with the inode \(inode)")
  }

  // MARK: Content

  /// Returns the content that processes see.
  var content: DiskContent {
    DiskContent(of: folders, from: Self.root) { files[$0]?.content ?? [] }
  }

  /// Returns the content that may be there when the power is lost now.
  func content(after loss: Loss, using random: inout SeededRandom) -> DiskContent {
    var folders = flushedFolders
    // With a change that is lost, the later changes of its folders are.
    var ended: Set<Int> = []
    for change in changes {
      let isKept = Double.random(in: 0..<1, using: &random) < loss.names
      guard isKept, change.folders.isDisjoint(with: ended) else {
        ended.formUnion(change.folders)
        continue
      }
      for name in change.names { folders[name.folder]?[name.name] = name.object }
    }
    return DiskContent(of: folders, from: Self.root) { object in
      files[object]?.content(after: loss, using: &random) ?? []
    }
  }
}

extension Disk {
  /// Returns the paths of all regular files and folders below a folder, parents first.
  fileprivate static func paths(in folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().filter { path in
      let kind = try status(of: folder + "/" + path).st_mode & S_IFMT
      return kind == S_IFREG || kind == S_IFDIR
    }
  }

  private static func status(of path: String) throws -> stat {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      throw Unexplained(description: "\(path): \(String(cString: strerror(errno)))")
    }
    return status
  }
}

/// The files and folders of a disk at one moment.
struct DiskContent: Sendable {
  private var folders: [String] = []
  private(set) var files: [String: [UInt8]] = [:]
  /// Further names of files, with their first ones.
  private var links: [String: String] = [:]

  fileprivate init(
    of names: [Int: [String: Int]], from root: Int, _ bytes: (Int) -> [UInt8]
  ) {
    var paths: [Int: String] = [:]
    func add(_ folder: Int, _ prefix: String) {
      for (name, object) in (names[folder] ?? [:]).sorted(by: { $0.key < $1.key }) {
        let path = prefix + name
        if names[object] != nil {
          folders.append(path)
          add(object, path + "/")
        } else if let first = paths[object] {
          links[path] = first
        } else {
          paths[object] = path
          files[path] = bytes(object)
        }
      }
    }
    add(root, "")
  }

  /// Writes everything to a folder, which is created.
  func write(to target: String) throws {
    for path in [""] + folders {
      try FileManager.default.createDirectory(
        atPath: target + "/" + path, withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    for (path, bytes) in files {
      guard
        FileManager.default.createFile(
          atPath: target + "/" + path, contents: Data(bytes),
          attributes: [.posixPermissions: 0o600])
      else { throw Disk.Unexplained(description: "\(target)/\(path) cannot be written") }
    }
    for (path, first) in links {
      try FileManager.default.linkItem(atPath: target + "/" + first, toPath: target + "/" + path)
    }
  }

  /// Returns the paths of which the folder has another content. Lock files, which LMDB changes
  /// through a map, need only be there.
  func differences(from folder: String) throws -> [String] {
    let found = Set(try Disk.paths(in: folder))
    let expected = Set(folders).union(files.keys).union(links.keys)
    return try found.symmetricDifference(expected).sorted()
      + files.filter { path, bytes in
        guard found.contains(path), !path.hasSuffix("lock.mdb") else { return false }
        return try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder + "/" + path))) != bytes
      }.keys.sorted()
  }
}
