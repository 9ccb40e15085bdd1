import Foundation
public import LMDB
import SystemSupport

/// The shadow mode of the tests (`MOORING_SHADOW=1`): each store in a temporary folder has a commit
/// log in memory. At the end of the test a second environment is fed from the log and compared with
/// the store, tree by tree. So each test of the store also tests that the log is complete.
public enum Shadow {
  public static let isOn = ProcessInfo.processInfo.environment["MOORING_SHADOW"] == "1"

  /// The logs by the path of the store.
  private static let logs = Locked<[String: MemoryCommitLog]>([:])

  /// Returns the log of the store that is about to be opened in a folder; `nil` without shadow
  /// mode, and for a store that was written without a log.
  ///
  /// A store that is a copy of one with a log, or that was restored from such a copy, continues
  /// with the entries up to its position.
  public static func log(ofStoreIn folder: String) throws -> (any CommitLog)? {
    guard isOn else { return nil }
    let known = logs.withLock { $0[folder] }
    guard FileManager.default.fileExists(atPath: folder + "/data.mdb") else {
      let log = MemoryCommitLog()
      logs.withLock { $0[folder] = log }
      return log
    }
    guard let position = try position(ofStoreIn: folder) else { return nil }
    if let known, known.head == position { return known }
    let all = logs.withLock { Array($0.values) }
    let log = all.lazy.compactMap { $0.prefix(upTo: position) }.first
    logs.withLock { $0[folder] = log }
    return log
  }

  private static func position(ofStoreIn folder: String) throws -> LogPosition? {
    let environment = try Environment.open(at: folder, options: .init(access: .readOnly))
    return try environment.read { try environment.logPosition(in: $0) }
  }

  /// Compares all stores within a folder with the environments that their logs feed, and forgets
  /// the logs.
  ///
  /// - Throws: `ShadowMismatch`; the errors of opening the store.
  public static func compareStores(in folder: String) throws {
    guard isOn else { return }
    let stores = logs.withLock { logs in logs.filter { $0.key.hasPrefix(folder + "/") } }
    defer { forgetStores(in: folder) }
    for (path, log) in stores where FileManager.default.fileExists(atPath: path + "/data.mdb") {
      let store = try Environment.open(at: path, options: .init(access: .readOnly))
      try compare(store, with: log)
    }
  }

  /// Forgets the logs of the stores within a folder.
  public static func forgetStores(in folder: String) {
    guard isOn else { return }
    logs.withLock { logs in logs = logs.filter { !$0.key.hasPrefix(folder + "/") } }
  }

  /// Feeds a new environment from a log and compares it with a store.
  ///
  /// - Throws: `ShadowMismatch`.
  public static func compare(_ store: Environment, with log: MemoryCommitLog) throws {
    let folder = try TemporaryFolder(named: "mooring-shadow")
    defer { folder.remove() }
    try store.read { transaction in
      guard let position = try store.logPosition(in: transaction) else { return }
      guard let log = log.prefix(upTo: position) else {
        throw ShadowMismatch("the store is not at a position of its log")
      }
      var options = Environment.Options(createIfMissing: true, flushesCommits: false)
      options.treesMax = store.options.treesMax
      options.commitLog = log
      let second = try Environment.open(at: folder.path("store"), options: options)
      try second.catchUp()
      try second.read { try requireEqual(store, transaction, second, $0) }
    }
  }

  /// Compares all trees of two snapshots: names, kinds of keys, and entries.
  ///
  /// - Throws: `ShadowMismatch`.
  public static func requireEqual(
    _ first: Environment, _ one: TreeTransaction, _ second: Environment, _ other: TreeTransaction
  ) throws {
    let names = try first.treeNames(in: one)
    let otherNames = try second.treeNames(in: other)
    guard names == otherNames else {
      let difference = Set(names).symmetricDifference(otherNames).sorted()
      throw ShadowMismatch("only one environment has the trees \(difference)")
    }
    for name in names {
      guard let tree = try first.tree(named: name, in: one),
        let otherTree = try second.tree(named: name, in: other)
      else { throw ShadowMismatch("tree \(name) has no handle") }
      guard
        try first.hasIntegerKeys(tree, in: one) == second.hasIntegerKeys(otherTree, in: other)
      else { throw ShadowMismatch("tree \(name) has keys of two kinds") }
      try requireEqual(name, try one.cursor(tree), try other.cursor(otherTree))
    }
  }

  private static func requireEqual(
    _ name: String, _ one: consuming Cursor, _ other: consuming Cursor
  ) throws {
    while true {
      let entry = try one.next()
      let otherEntry = try other.next()
      guard let entry, let otherEntry else {
        if let left = entry ?? otherEntry {
          throw ShadowMismatch("tree \(name): only one has the key \(Array(left.key))")
        }
        return
      }
      guard entry.key.elementsEqual(otherEntry.key) else {
        throw ShadowMismatch(
          "tree \(name): the keys \(Array(entry.key)) and \(Array(otherEntry.key))")
      }
      guard entry.value.elementsEqual(otherEntry.value) else {
        throw ShadowMismatch("tree \(name): two values of the key \(Array(entry.key))")
      }
    }
  }
}

/// A difference between a store and the environment that its log feeds.
public struct ShadowMismatch: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
