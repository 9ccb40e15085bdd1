import Foundation
import LMDB

/// A store as `mdb_dump -a` writes it: one part for each tree, a key and its value in two lines.
///
///     VERSION=3
///     format=bytevalue
///     database=r.1
///     type=btree
///     integerkey=1
///     …
///     HEADER=END
///      0100000000000000
///      0201…
///     DATA=END
///
/// Its other format, `-p`, does not escape backslashes and so cannot be read back.
struct StoreDump {
  struct Tree {
    let name: String
    var hasIntegerKeys = false
    var entries: [(key: [UInt8], value: [UInt8])] = []
  }

  struct Malformed: Error {
    let line: Int
    let text: String
  }

  var trees: [Tree] = []

  init(contentsOf file: URL) throws {
    let lines = try Data(contentsOf: file).split(separator: UInt8(ascii: "\n"))
    var tree: Tree?
    var key: [UInt8]?
    for (index, line) in lines.enumerated() {
      func malformed() -> Malformed {
        Malformed(line: index + 1, text: String(decoding: line, as: UTF8.self))
      }
      if line.first == UInt8(ascii: " ") {
        guard let bytes = Self.bytes(of: line.dropFirst()) else { throw malformed() }
        if let known = key { tree?.entries.append((known, bytes)) }
        key = key == nil ? bytes : nil
        continue
      }
      let pair = String(decoding: line, as: UTF8.self).split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { throw malformed() }
      switch (pair[0], pair[1]) {
      case ("VERSION", "3"), ("format", "bytevalue"), ("type", "btree"), ("HEADER", "END"): break
      case ("mapsize", _), ("maxreaders", _), ("db_pagesize", _): break
      case ("database", let name): tree = Tree(name: String(name))
      case ("integerkey", "1"): tree?.hasIntegerKeys = true
      case ("DATA", "END"):
        guard let complete = tree, key == nil else { throw malformed() }
        trees.append(complete)
        tree = nil
      default: throw malformed()
      }
    }
  }

  private static func bytes(of digits: Data) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in digits {
      guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
      if let known = high { bytes.append(known << 4 | UInt8(value)) }
      high = high == nil ? UInt8(value) : nil
    }
    return bytes
  }

  /// Creates an LMDB environment with these trees.
  func write(to folder: String) throws {
    let options = Environment.Options(
      mapSize: 1 << 30, createIfMissing: true, flushesCommits: false)
    let environment = try Environment.open(at: folder, options: options)
    try environment.writerQueue.sync {
      try environment.write { transaction in
        for tree in trees {
          let made = try environment.createTree(
            named: tree.name, hasIntegerKeys: tree.hasIntegerKeys, in: transaction)
          for (key, value) in tree.entries { try transaction.put(made, key: key, value: value) }
        }
      }
    }
  }
}
