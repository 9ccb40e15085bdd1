import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

/// The read-ahead advice for the map, as the kernel shows it (`rr`: random reads).
@Suite struct MapReadAheadTests {
  @Test func theKernelReadsAheadDuringLongScans() throws {
    try withStore { environment in
      let tree = try environment.makeTree()
      try environment.write { transaction in
        for number in 0..<UInt16(3_000) {
          let key = withUnsafeBytes(of: number.bigEndian) { Array($0) }
          try transaction.append(tree, key: key, value: key)
        }
      }
      #expect(try isReadAtRandom(environment))
      try environment.read { transaction in
        do {
          var short = try transaction.cursor(tree)
          for _ in 0..<1_000 { _ = try short.next() }
          #expect(try isReadAtRandom(environment))
          var long = try transaction.cursor(tree)
          while try long.next() != nil {}
          #expect(try !isReadAtRandom(environment))
          var back = try transaction.cursor(tree)
          while try back.previous() != nil {}
        }
        #expect(try isReadAtRandom(environment))
      }
    }
  }

  private func isReadAtRandom(_ environment: Environment) throws -> Bool {
    let lines = try mappings().drop { !$0.hasSuffix(environment.folder + "/data.mdb\n") }
    let flags = try #require(lines.first { $0.hasPrefix("VmFlags:") })
    return flags.split(separator: " ").contains("rr")
  }

  /// Reads line by line: Foundation mistakes the kernel's first chunk for the whole file.
  private func mappings() throws -> [String] {
    let file = try #require(fopen("/proc/self/smaps", "re"))
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var lines: [String] = []
    while getline(&line, &capacity, file) > 0, let text = line {
      lines.append(String(cString: text))
    }
    return lines
  }
}
