import LMDB
import TestSupport

/// Random operations of all kinds on a few trees, with nested transactions of which some fail.
struct RandomOperations {
  struct Failure: Error {}

  var generator: SeededRandom

  init(seed: UInt64) { generator = SeededRandom(seed: seed) }

  /// Runs some operations.
  ///
  /// - Throws: `Failure`, by chance, after which the transaction must be undone.
  mutating func run(
    in transaction: TreeWriter, of environment: Environment, depth: Int = 0
  ) throws {
    for _ in 0..<pick(12) {
      let hasIntegerKeys = pick(4) == 0
      let name = hasIntegerKeys ? "n\(pick(2))" : "b\(pick(4))"
      guard let tree = try environment.tree(named: name, in: transaction), pick(20) > 0 else {
        _ = try environment.createTree(
          named: name, hasIntegerKeys: hasIntegerKeys, in: transaction)
        continue
      }
      if pick(12) == 0, depth < 3 {
        do {
          try transaction.nested { try run(in: $0, of: environment, depth: depth + 1) }
        } catch is Failure {}
      } else {
        try change(tree, hasIntegerKeys, in: transaction)
      }
    }
    if pick(6) == 0 { throw Failure() }
  }

  private mutating func change(
    _ tree: Tree, _ hasIntegerKeys: Bool, in transaction: TreeWriter
  ) throws {
    let key = key(isInteger: hasIntegerKeys)
    // Now and then one that is larger than a part.
    let count = pick(60) == 0 ? 1_200_000 : pick(8) == 0 ? pick(9_000) : pick(40)
    let value = generator.bytes(count: 8) + [UInt8](repeating: UInt8(pick(256)), count: count)
    switch pick(14) {
    case 0: try transaction.empty(tree)
    case 1: try transaction.drop(tree)
    case 2: try transaction.delete(tree, key: key)
    case 3, 4: try deleteSome(of: tree, in: transaction)
    case 5: try write(key, value, tree, at: transaction.cursor(tree))
    case 6:
      try transaction.pinCursor(in: tree)
      fallthrough
    case 7:
      try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { value in
          _ = try transaction.appendIfGreatest(tree, key: key, value: value, ending: 0x0403_0201)
        }
      }
    case 8: try append(value, to: tree, hasIntegerKeys, in: transaction)
    case 9:
      try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { value in
          try transaction.put(tree, key: key, value: value, ending: 0x0807_0605)
        }
      }
    default: try transaction.put(tree, key: key, value: value)
    }
  }

  private mutating func deleteSome(of tree: Tree, in transaction: TreeWriter) throws {
    var cursor = try transaction.cursor(tree)
    guard var entry = try cursor.seek(atLeast: [UInt8(pick(256)), 0, 0, 0, 0, 0, 0, 0]) else {
      return
    }
    for _ in 0..<pick(5) {
      if pick(2) == 0 {
        try cursor.deleteCurrent()
      } else {
        try transaction.delete(tree, key: entry.key)
      }
      guard let next = try cursor.next() else { return }
      entry = next
    }
  }

  private func write(
    _ key: [UInt8], _ value: [UInt8], _ tree: Tree, at cursor: consuming Cursor
  ) throws {
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { try cursor.put(key: key, value: $0) }
    }
  }

  private mutating func append(
    _ value: [UInt8], to tree: Tree, _ hasIntegerKeys: Bool, in transaction: TreeWriter
  ) throws {
    var cursor = try transaction.cursor(tree)
    let last = try cursor.last().map { Array($0.key) }
    // The integers are little-endian: only the lowest byte may be raised without a carry.
    guard var key = last, let place = hasIntegerKeys ? 0 : key.indices.last, key[place] < 255
    else { return }
    key[place] += 1
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { try cursor.append(key: key, value: $0) }
    }
  }

  private mutating func key(isInteger: Bool) -> [UInt8] {
    if isInteger { return [UInt8(pick(200)), UInt8(pick(2)), 0, 0, 0, 0, 0, 0] }
    return generator.bytes(count: 1) + [UInt8](repeating: 1, count: pick(3) == 0 ? 400 : pick(9))
  }

  private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }
}
