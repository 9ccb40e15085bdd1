import Glibc
import LMDB
import SystemSupport
import TestSupport

/// Commands on a raw environment. Each prints the state it reached, and continues when it reads a
/// line.
///
/// - Returns: `false` if the command is not one of them.
func runLMDBCommand(_ arguments: [String]) throws -> Bool {
  guard arguments.count >= 2, arguments[0].hasPrefix("lmdb-") else { return false }
  let folder = arguments[1]
  let number = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
  switch arguments[0] {
  case "lmdb-hold-reader": try holdReader(folder)
  case "lmdb-hold-writer": try holdWriter(folder)
  case "lmdb-write-on": try writeOn(folder)
  case "lmdb-create-tree": try createTree(folder, named: arguments[2])
  case "lmdb-fill": try fill(folder, fileBytesMax: number)
  case "lmdb-log-fill": try fillAfterLog(folder)
  case "lmdb-log-write": try writeWithLog(folder)
  case "lmdb-walk": try walk(Environment.open(at: folder, options: .init(access: .readOnly)))
  case "lmdb-cut": try cut(folder)
  case "lmdb-rewrite": try rewrite(folder, seed: UInt64(number))
  default: return false
  }
  return true
}

private func holdReader(_ folder: String) throws {
  let environment = try Environment.open(at: folder)
  try environment.read { transaction in
    say("reading \(transaction.id)")
    _ = readLine()
  }
}

private func holdWriter(_ folder: String) throws {
  let environment = try Environment.open(at: folder)
  try environment.write { transaction in
    say("writing \(transaction.id)")
    _ = readLine()
  }
}

/// Commits one small transaction after another, until its standard input ends.
private func writeOn(_ folder: String) throws {
  let environment = try Environment.open(at: folder)
  let tree = try environment.write { try environment.createTree(named: "child", in: $0) }
  say("ready")
  var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
  while poll(&input, 1, 0) == 0 {
    try environment.write { try $0.put(tree, key: [0], value: [UInt8($0.id & 0xff)]) }
  }
}

private func createTree(_ folder: String, named name: String) throws {
  let environment = try Environment.open(at: folder)
  try environment.write { transaction in
    let tree = try environment.createTree(named: name, in: transaction)
    try transaction.put(tree, key: [1], value: [1])
  }
  say("created")
}

/// Writes under a file size limit until it strikes, and once more when it is lifted.
private func fill(_ folder: String, fileBytesMax: Int) throws {
  let environment = try Environment.open(at: folder)
  let tree = try environment.write { try environment.createTree(named: "fill", in: $0) }
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  let unlimited = limit
  limit.rlim_cur = rlim_t(fileBytesMax)
  setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  do {
    for round in 0..<1_000 {
      try environment.write { transaction in
        for item in 0..<16 {
          let key = [UInt8(round >> 8), UInt8(round & 0xff), UInt8(item)]
          try transaction.put(tree, key: key, value: [UInt8](repeating: 7, count: 5_000))
        }
      }
    }
    say("never full")
  } catch let error as StorageError {
    say("\(error.code)")
    say("\(error)")
  }
  limit = unlimited
  setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  try environment.write { try $0.put(tree, key: [1], value: [1]) }
  say("usable")
}

/// Commits to a log, and then fails to commit to the store because of a file size limit.
private func fillAfterLog(_ folder: String) throws {
  let log = MemoryCommitLog()
  var options = Environment.Options(createIfMissing: true)
  options.commitLog = log
  let environment = try Environment.open(at: folder, options: options)
  let tree = try environment.write { try environment.createTree(named: "fill", in: $0) }
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  let unlimited = limit
  limit.rlim_cur = 4_096
  let low = limit
  log.afterCommit {
    var low = low
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &low)
  }
  let value = [UInt8](repeating: 7, count: 8_000)
  func report(_ name: String) throws {
    let found = try environment.read { try $0.get(tree, [1])?.count }
    let times = log.parts.count { $0.bytes.contains(value) }
    say("\(name) \(found.map(String.init) ?? "nil"), in the log \(times)")
  }
  do {
    try environment.write { try $0.put(tree, key: [1], value: value) }
    say("not full")
  } catch let error as StorageError {
    say("\(error.code)")
  }
  try report("before")
  log.afterCommit(nil)
  limit = unlimited
  setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  try environment.write { try $0.put(tree, key: [2], value: [1]) }
  try report("after")
}

/// Writes to a log and a store while a write to the file may fail, and prints for each of them the
/// outcome, whether a read finds it, the number of its entries in the log, and whether it came from
/// there.
private func writeWithLog(_ folder: String) throws {
  let log = MemoryCommitLog()
  var options = Environment.Options(createIfMissing: true)
  options.commitLog = log
  let environment = try Environment.open(at: folder, options: options)
  var tree: Tree?
  for number in 0..<6 as Range<UInt8> {
    let value = [UInt8](repeating: 200 + number, count: 3_000)
    let tails = log.tailsCount
    var outcome = "stored"
    do {
      tree = try environment.write { transaction in
        let tree = try environment.createTree(named: "tree", in: transaction)
        try transaction.put(tree, key: [number], value: value)
        return tree
      }
    } catch let error as StorageError {
      outcome = "\(error.code)"
    }
    let found = try environment.read { transaction in
      try tree.flatMap { try transaction.get($0, [number]) } != nil
    }
    let times = log.parts.count { $0.bytes.contains(value) }
    say("\(outcome) \(found) \(times) \(log.tailsCount > tails ? "later" : "at once")")
  }
  try Shadow.compare(environment, with: log)
  say("equal")
}

/// Reads every byte of every tree through LMDB.
private func walk(_ environment: Environment) throws {
  var sum = 0
  try environment.read { transaction in
    for name in try environment.treeNames(in: transaction) {
      guard let tree = try environment.tree(named: name, in: transaction) else { continue }
      var cursor = try transaction.cursor(tree)
      while let entry = try cursor.next() {
        for byte in entry.value { sum &+= Int(byte) }
      }
    }
  }
  say("walked \(sum)")
}

/// Changes and removes random entries of every tree, with the guard that tools use.
private func rewrite(_ folder: String, seed: UInt64) throws {
  var options = Environment.Options()
  options.guardsFaults = true
  let environment = try Environment.open(at: folder, options: options)
  var random = SeededRandom(seed: seed)
  try environment.write { transaction in
    for name in try environment.treeNames(in: transaction) {
      guard let tree = try environment.tree(named: name, in: transaction) else { continue }
      for _ in 0..<200 {
        let number = UInt8.random(in: 0..<66, using: &random)
        let key = [number, number &* 37, UInt8.random(in: 0...1, using: &random)]
        if Bool.random(using: &random) {
          try transaction.delete(tree, key: key)
        } else {
          let size = Int.random(in: 0..<700, using: &random)
          try transaction.put(tree, key: key, value: [UInt8](repeating: number, count: size))
        }
      }
    }
  }
  say("rewritten")
}

/// Cuts its own open file, and reads on.
private func cut(_ folder: String) throws {
  let environment = try Environment.open(at: folder)
  try FaultGuard.install(for: environment)
  truncate(folder + "/data.mdb", 2 * 4096)
  try walk(environment)
}
