import CMooringLMDB
import Foundation
import Synchronization

public struct LMDBError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable { case storeMissing, notAFolder, permission, diskFull, inputOutput, mapFull, readersFull, damaged, notAStore, busy, valueTooLarge, keyInvalid, tooManyTrees, addressSpace, programming, other }
  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String
  public var description: String { "\(summary) \(context)" }
}
@inline(__always) func check(_ rc: Int32) throws { if rc != 0 { throw LMDBError(code: .other, summary: "lmdb", context: [("rc", String(rc))], advice: "") } }

public final class Environment: @unchecked Sendable {
  public struct Options: Sendable { public var mapSize = 64 << 30; public var createIfMissing = false; public var writerDeadline = Duration.seconds(10); public var flushesCommits = true; public init() {} }
  public struct Information: Sendable { public var fileBytes = 0 }
  public let folder: String
  let env: OpaquePointer
  static let openEnvs = Mutex<[String: Weak]>([:])
  struct Weak { weak var e: Environment? }
  let pool = Mutex<[Handle]>([])
  struct Handle: @unchecked Sendable { let p: OpaquePointer }
  let dbis = Mutex<[String: Tree]>([:])
  public static func open(at folder: String, options: Options = .init()) throws -> Environment {
    if let e = openEnvs.withLock({ $0[folder]?.e }) { return e }
    if !FileManager.default.fileExists(atPath: folder + "/data.mdb"), !options.createIfMissing { throw LMDBError(code: .storeMissing, summary: "missing", context: [], advice: "") }
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let e = try Environment(folder, options)
    openEnvs.withLock { $0[folder] = Weak(e: e) }
    return e
  }
  init(_ folder: String, _ o: Options) throws {
    self.folder = folder
    var e: OpaquePointer?
    try check(mdb_env_create(&e)); env = e!
    try check(mdb_env_set_mapsize(env, o.mapSize)); try check(mdb_env_set_maxdbs(env, 512)); try check(mdb_env_set_maxreaders(env, 512))
    try check(mdb_env_open(env, folder, UInt32(MDB_NOTLS) | (o.flushesCommits ? 0 : UInt32(MDB_NOSYNC)), 0o600))
  }
  deinit { for h in pool.withLock({ $0 }) { mdb_txn_abort(h.p) }; mdb_env_close(env) }
  public func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    let t: OpaquePointer
    if let h = pool.withLock({ $0.popLast() }) { t = h.p; try check(mdb_txn_renew(t)) } else { var p: OpaquePointer?; try check(mdb_txn_begin(env, nil, UInt32(MDB_RDONLY), &p)); t = p! }
    defer { mdb_txn_reset(t); let h = Handle(p: t); pool.withLock { $0.append(h) } }
    return try body(ReadTransaction(t))
  }
  public func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    var p: OpaquePointer?
    try check(mdb_txn_begin(env, nil, 0, &p))
    do { let r = try body(WriteTransaction(p!)); try check(mdb_txn_commit(p!)); return r } catch { mdb_txn_abort(p!); throw error }
  }
  public func openTree(named n: String) throws -> Tree? {
    if let t = dbis.withLock({ $0[n] }) { return t }
    var p: OpaquePointer?
    try check(mdb_txn_begin(env, nil, UInt32(MDB_RDONLY), &p))
    var d: MDB_dbi = 0
    let rc = mdb_dbi_open(p!, n, 0, &d)
    if rc == MDB_NOTFOUND { mdb_txn_abort(p!); return nil }
    try check(rc); try check(mdb_txn_commit(p!))
    let t = Tree(dbi: d, name: n); dbis.withLock { $0[n] = t }
    return t
  }
  public func tree(named n: String, in t: Transaction) throws -> Tree? {
    var d: MDB_dbi = 0
    let rc = mdb_dbi_open(t.p, n, 0, &d); if rc == MDB_NOTFOUND { return nil }
    try check(rc); return Tree(dbi: d, name: n)
  }
  public func createTree(named n: String, hasIntegerKeys: Bool = false, in t: WriteTransaction) throws -> Tree {
    var d: MDB_dbi = 0
    try check(mdb_dbi_open(t.p, n, UInt32(MDB_CREATE) | (hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0), &d)); return Tree(dbi: d, name: n)
  }
  public func information() throws -> Information { Information() }
}
public struct Tree: Sendable, Hashable { let dbi: UInt32; public let name: String }
@inline(__always) func val(_ b: UnsafeRawBufferPointer) -> MDB_val { MDB_val(mv_size: b.count, mv_data: UnsafeMutableRawPointer(mutating: b.baseAddress)) }
@inline(__always) func buf(_ v: MDB_val) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: v.mv_data, count: v.mv_size) }
public class Transaction {
  let p: OpaquePointer
  init(_ p: OpaquePointer) { self.p = p }
  public func get(_ tree: Tree, _ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
    var k = val(key), v = MDB_val()
    let rc = mdb_get(p, tree.dbi, &k, &v); if rc == MDB_NOTFOUND { return nil }
    try check(rc); return buf(v)
  }
  public func get(_ tree: Tree, _ key: [UInt8]) throws -> UnsafeRawBufferPointer? { try key.withUnsafeBytes { try get(tree, $0) } }
  public func cursor(_ tree: Tree) throws -> Cursor { var c: OpaquePointer?; try check(mdb_cursor_open(p, tree.dbi, &c)); return Cursor(c!) }
  public func count(_ tree: Tree) throws -> Int { var s = MDB_stat(); try check(mdb_stat(p, tree.dbi, &s)); return Int(s.ms_entries) }
}
public final class ReadTransaction: Transaction {}
public final class WriteTransaction: Transaction {
  public func put(_ tree: Tree, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws { var k = val(key), v = val(value); try check(mdb_put(p, tree.dbi, &k, &v, 0)) }
  @discardableResult public func delete(_ tree: Tree, key: UnsafeRawBufferPointer) throws -> Bool { var k = val(key); let rc = mdb_del(p, tree.dbi, &k, nil); if rc == MDB_NOTFOUND { return false }; try check(rc); return true }
  public func nested<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    var e: OpaquePointer?; try check(mdb_txn_begin(mdb_txn_env(p), p, 0, &e))
    do { let r = try body(WriteTransaction(e!)); try check(mdb_txn_commit(e!)); return r } catch { mdb_txn_abort(e!); throw error }
  }
}
public struct Cursor: ~Copyable {
  public struct Entry { public let key: UnsafeRawBufferPointer; public let value: UnsafeRawBufferPointer }
  let c: OpaquePointer
  init(_ c: OpaquePointer) { self.c = c }
  deinit { mdb_cursor_close(c) }
  @inline(__always) func op(_ o: MDB_cursor_op, _ key: UnsafeRawBufferPointer? = nil) throws -> Entry? {
    var k = key.map(val) ?? MDB_val(), v = MDB_val()
    let rc = mdb_cursor_get(c, &k, &v, o); if rc == MDB_NOTFOUND { return nil }
    try check(rc); return Entry(key: buf(k), value: buf(v))
  }
  public mutating func first() throws -> Entry? { try op(MDB_FIRST) }
  public mutating func last() throws -> Entry? { try op(MDB_LAST) }
  public mutating func next() throws -> Entry? { try op(MDB_NEXT) }
  public mutating func previous() throws -> Entry? { try op(MDB_PREV) }
  public mutating func seek(atLeast key: UnsafeRawBufferPointer) throws -> Entry? { try op(MDB_SET_RANGE, key) }
  public mutating func seek(exactly key: UnsafeRawBufferPointer) throws -> Entry? { try op(MDB_SET_KEY, key) }
  public mutating func seek(below key: UnsafeRawBufferPointer) throws -> Entry? { if try op(MDB_SET_RANGE, key) != nil { return try op(MDB_PREV) }; return try op(MDB_LAST) }
  public mutating func put(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws { var k = val(key), v = val(value); try check(mdb_cursor_put(c, &k, &v, 0)) }
  public mutating func deleteCurrent() throws { try check(mdb_cursor_del(c, 0)) }
}
