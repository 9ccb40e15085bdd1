import EntityStore
import Glibc
import SystemSupport

/// The folder `scratch` of a store: the runs of sorts that are in progress.
///
/// Its contents can always be created again. The files of a sort that was killed stay until
/// `removeLeftovers` removes them.
struct KeyRunFolder: Sendable {
  let path: String

  init(ofStore folder: String) { path = folder + "/scratch" }

  /// Creates the folder, mode 0700, if it is missing, and refuses one that must not be used.
  func prepare() throws(StoreError) {
    do {
      try FolderFile.makeFolder(path)
    } catch {
      throw .scratch(error, "the scratch folder cannot be created", path: path)
    }
    close(try open())
  }

  /// Removes the runs of every owner, while no sort or merge is in progress in any process. Files
  /// of other kinds stay.
  func removeLeftovers() throws(StoreError) { try removeFiles { _ in true } }

  /// Removes the runs of one owner.
  func removeRuns(of owner: String) throws(StoreError) {
    let stem = KeyRunFolder.stem(of: owner)
    try removeFiles { $0 == stem }
  }

  /// Removes one run.
  func removeRun(owner: String, number: Int) throws(StoreError) {
    try removeFile(file(owner: owner, number: number))
  }

  /// Returns the path of a run's file. It contains a hash of the owner's name, because the name may
  /// have any character.
  func file(owner: String, number: Int) -> String {
    "\(path)/\(KeyRunFolder.stem(of: owner))-\(number)\(KeyRunFolder.suffix)"
  }

  /// Returns the name that a run's file has until it is complete.
  static func unfinished(_ file: String) -> String { file + unfinishedSuffix }

  /// Makes new names durable.
  func flush() throws(StoreError) {
    let descriptor = try open()
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else {
      throw .scratch(SystemError(), "the scratch folder cannot be written", path: path)
    }
  }

  private func open() throws(StoreError) -> Int32 {
    do {
      return try FolderFile.openFolder(path)
    } catch {
      throw .scratch(error, "the scratch folder cannot be used", path: path)
    }
  }

  private static let suffix = ".run"
  private static let unfinishedSuffix = ".new"
  private static let stemDigits = 16

  private static func stem(of owner: String) -> String {
    let digits = String(UInt64(bitPattern: ContentHash.of(owner)), radix: 16)
    return String(repeating: "0", count: stemDigits - digits.count) + digits
  }

  private func removeFiles(where isUnneeded: (String) -> Bool) throws(StoreError) {
    for name in try fileNames() {
      guard let stem = KeyRunFolder.stem(ofFile: name), isUnneeded(stem) else { continue }
      try removeFile("\(path)/\(name)")
    }
  }

  private func removeFile(_ file: String) throws(StoreError) {
    // Another process may be removing files, too.
    guard unlink(file) == 0 || errno == ENOENT else {
      throw .scratch(SystemError(), "a scratch file cannot be removed", path: file)
    }
  }

  /// Returns the part of a file's name that stands for the owner.
  ///
  /// - Returns: `nil` for a file that is no run.
  private static func stem(ofFile name: String) -> String? {
    let isRun = name.hasSuffix(suffix) || name.hasSuffix(suffix + unfinishedSuffix)
    let stem = name.prefix(while: { $0 != "-" })
    guard isRun, stem.utf8.count == stemDigits, stem.allSatisfy(\.isHexDigit) else { return nil }
    return String(stem)
  }

  private func fileNames() throws(StoreError) -> [String] {
    var status = stat()
    if lstat(path, &status) != 0, errno == ENOENT { return [] }
    let descriptor = try open()
    guard let listing = fdopendir(descriptor) else {
      let error = SystemError()
      close(descriptor)
      throw .scratch(error, "the scratch folder cannot be read", path: path)
    }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      // SAFETY: the name ends with a zero byte within the entry. The entry is not copied, because
      // it may be shorter than `dirent`.
      let name = UnsafeRawPointer(entry) + KeyRunFolder.nameOffset
      names.append(String(cString: name.assumingMemoryBound(to: CChar.self)))
    }
    return names
  }

  private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
}
