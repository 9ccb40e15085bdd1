/// Recognizes what a file is that is no SQLite database, by its first bytes.
enum FileLikeness {
  /// - Throws: ``ImportError`` `missing`, `unreadable`, `notADatabase` or `encrypted`. What may be
  ///   a database, whole or not, passes.
  static func check(_ path: String) throws(ImportError) {
    guard let file = try SourceFile.open(path) else {
      throw ImportError(.missing, "there is no such file", [("path", path)])
    }
    let byteCount = try file.byteCount()
    let start = try file.bytes(at: 0, count: 4096)
    switch Likeness(start, byteCount: byteCount) {
    case .database: return
    case .encrypted:
      throw ImportError(
        .encrypted, "the file is encrypted, or no SQLite database",
        [("path", path), ("bytes", String(byteCount))],
        advice: "decrypt it with the program that made it, SQLCipher for one, and import that")
    case .other(let name):
      throw ImportError(
        .notADatabase, "the file is no SQLite database", [("path", path), ("looks like", name)])
    }
  }
}

enum Likeness: Equatable {
  case database
  case encrypted
  case other(String)

  init(_ start: [UInt8], byteCount: Int64) {
    let known: [([UInt8], String)] = [
      ([0x1f, 0x8b], "a gzip archive"), ([0x78, 0x9c], "data compressed by zlib"),
      (Array("PK\u{3}\u{4}".utf8), "a zip archive"),
      (Array("bplist".utf8), "a binary property list"),
      ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "an xz archive"),
      ([0x28, 0xb5, 0x2f, 0xfd], "a Zstandard archive"), (Array("BZh".utf8), "a bzip2 archive"),
      (Array("** This file contains an SQLite 2".utf8), "a database of SQLite 2"),
      (Array("version https://git-lfs".utf8), "a Git LFS pointer: the file itself was not fetched"),
      (Array("SQLite format 3".utf8), ""),
    ]
    if start.isEmpty {
      self = .database
    } else if let match = known.first(where: { start.starts(with: $0.0) }) {
      self = match.1.isEmpty ? .database : .other(match.1)
    } else if start.hasLikelyHeader(byteCount: byteCount) {
      self = .database
    } else if let text = String(
      validating: start.prefix(4000).dropLast(start.count > 4000 ? 3 : 0), as: UTF8.self),
      !text.unicodeScalars.contains(where: { $0.value < 9 })
    {
      let lowered = text.lowercased()
      self = .other(
        lowered.contains("<html") || lowered.contains("<!doctype html")
          ? "a page of the web"
          : lowered.hasPrefix("create ") || lowered.hasPrefix("pragma ")
            || lowered.hasPrefix("begin") ? "SQL text" : "text")
    } else if byteCount % 512 == 0, start.looksRandom {
      self = .encrypted
    } else {
      self = .other("unknown data")
    }
  }
}

extension [UInt8] {
  /// Returns true if the fixed bytes of a header other than the magic are there: 64, 32, 32 for the
  /// fractions of a page, and zeros in the reserved bytes. With them, a wrong magic is damage.
  fileprivate func hasLikelyHeader(byteCount: Int64) -> Bool {
    count >= DatabaseHeader.byteCount && Array(self[21..<24]) == [64, 32, 32]
      && self[72..<92].allSatisfy { $0 == 0 } && DatabaseHeader(self) != nil
  }

  /// True if no byte value is much more frequent than another.
  fileprivate var looksRandom: Bool {
    guard count >= 512 else { return false }
    var counts = [Int](repeating: 0, count: 256)
    for byte in self { counts[Int(byte)] += 1 }
    let expected = Double(count) / 256
    let deviation =
      counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) } / expected
    // Chi-square of 255 degrees of freedom: random bytes stay below 400 but for one in a hundred
    // million.
    return deviation < 400
  }
}
