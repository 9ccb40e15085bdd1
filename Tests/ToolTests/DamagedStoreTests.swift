import Foundation
import TestSupport
import Testing

/// Damaged stores in the hands of the commands: each ends by itself, with data or with 65.
@Suite struct DamagedStoreTests {
  private static let commands = [
    ("mooring", ["home"]), ("mooring", ["check"]), ("mooring-dump", ["records", "Episode"]),
    ("mooring-dump", ["stats"]), ("mooring-dump", ["history", "--format", "json"]),
    ("mooring", ["fetch", "Episode", "--where", "type IN {1, 3}", "--sort", "updatedAt:desc"]),
    ("mooring", ["fetch", "Episode", "--group-by", "pathID", "--aggregate", "sum:duration"]),
  ]

  /// A flip in the text of the catalog may produce another valid catalog, with other types or
  /// entities than a command requires.
  private static let otherSchema: Set<Int32> = [64, 78]

  @Test func aCutFileIsRefusedAtAnyLength() throws {
    let bytes = try SampleStore.bytes
    // The first bytes are zeros, and a file of zeros is a creation that was interrupted.
    let lengths = Array(stride(from: 11, to: bytes.count, by: bytes.count / 25))
    try inParallel(lengths) { length in
      try withTemporaryFolder { folder in
        let store = folder.path("store")
        for (tool, arguments) in Self.commands {
          try SampleStore.write(Array(bytes[..<length]), to: store)
          let run = try run(tool, arguments, store: store)
          #expect(run.status == 65, "\(tool) \(arguments) at \(length): \(run.errors)")
          #expect(!run.errors.isEmpty || arguments == ["check"])
        }
      }
    }
  }

  @Test func aValueThatHasChangedIsFoundByItsSeal() throws {
    let url = Array("https://example.org/3".utf8)
    var bytes = try SampleStore.bytes
    let places = bytes.indices.dropLast(url.count).filter { bytes[$0...].starts(with: url) }
    #expect(!places.isEmpty)
    for place in places { bytes[place + url.count - 1] = UInt8(ascii: "8") }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try SampleStore.write(bytes, to: store)
      let check = try mooring("check", store: store)
      #expect(check.status == 65 && check.output.contains("Episode"), "\(check.output)")
      // A fetch shows what is stored, unless it is to verify.
      let fetch = try mooring("fetch", "Episode", "--format", "jsonl", store: store)
      #expect(fetch.status == 0 && fetch.output.contains("example.org/8"))
      let verified = try mooring("fetch", "Episode", "--verify", "--format", "jsonl", store: store)
      expectFailure(verified, 65, "Episode")
      #expect(!verified.output.contains("example.org/8"))
      let dump = try run("mooring-dump", ["records", "Episode"], store: store)
      #expect(dump.status == 65, "\(dump.errors)")
      #expect(dump.errors.contains("does not match its seal (entity: Episode, id: 3)"))
      #expect(!dump.output.contains("example.org/8"))
    }
  }

  @Test func flippedBitsNeverEndACommandByASignal() throws {
    let bytes = try SampleStore.bytes
    let base = testSeed(4_000)
    try inParallel(Array(0..<(isThorough ? 1_000 : 200))) { number in
      let seed = base + UInt64(number)
      let damaged = Self.flip(bytes, seed: seed)
      try withTemporaryFolder { folder in
        let store = folder.path("store")
        var isSound: Bool?
        for (tool, arguments) in Self.commands {
          try SampleStore.write(damaged.bytes, to: store)
          let run = try run(tool, arguments, store: store)
          let allowed: Set<Int32> =
            damaged.isInCatalog ? Self.otherSchema.union([0, 65]) : [0, 65]
          #expect(
            allowed.contains(run.status),
            "seed \(seed), \(tool) \(arguments) ended with \(run.status): \(run.errors)")
          if arguments == ["check"] { isSound = run.status == 0 }
        }
        #expect(isSound != nil)
      }
    }
  }

  /// Half of the flips go where the structure is: headers, offsets, meta pages.
  private static func flip(
    _ sound: [UInt8], seed: UInt64
  ) -> (bytes: [UInt8], isInCatalog: Bool) {
    var random = SeededRandom(seed: seed)
    var bytes = sound
    var isInCatalog = false
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let pages = bytes.count / 4_096
      let isMeta = Int.random(in: 0..<4, using: &random) == 0
      let page = Int.random(in: 0..<(isMeta ? 2 : pages), using: &random)
      let reach = Bool.random(using: &random) ? 64 : page < 2 ? 152 : 4_096
      let place = page * 4_096 + Int.random(in: 0..<reach, using: &random)
      bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      isInCatalog = isInCatalog || isCatalogPage(page, of: sound)
    }
    return (bytes, isInCatalog)
  }

  /// True if the page contains text of the catalog: the schema fills whole pages, the rest is on a
  /// leaf with the header and the history.
  private static func isCatalogPage(_ page: Int, of bytes: [UInt8]) -> Bool {
    let text = String(decoding: bytes[page * 4_096..<(page + 1) * 4_096], as: UTF8.self)
    return ["\"attributeID\"", "\"isOptional\"", "applied:", "MOORING"]
      .contains { text.contains($0) }
  }

  /// LMDB takes a node with this flag for a tree of duplicate values, of which it then has none.
  @Test func aFlagThatLeadsLMDBToAnInvalidAddressIsReportedAsDamage() throws {
    try withSampleStore { store in
      var bytes = try SampleStore.bytes
      // The node of the first record: flags of 0, a key of 8 bytes, 1 with its sign flipped.
      let node: [UInt8] = [0, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0x80]
      var found = 0
      for place in bytes.indices.dropLast(node.count)
      where bytes[place..<place + node.count].elementsEqual(node) {
        bytes[place] = 4
        found += 1
      }
      #expect(found > 0)
      try SampleStore.write(bytes, to: store)
      let run = try mooringDump("records", "Episode", store: store)
      expectFailure(run, 65, "the store is damaged", tool: "mooring-dump")
      let check = try mooring("check", store: store)
      #expect(check.status == 65)
      #expect(check.output.contains("an entry has duplicate values"))
    }
  }

  @Test func anUnreadableRecordIsNamedAndTheDumpContinues() throws {
    try withSampleStore { store in
      var bytes = try SampleStore.bytes
      // In each copy of the page: the layout version of record 3, two bytes after the key.
      let node: [UInt8] = [0, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0x80]
      for place in bytes.indices.dropLast(node.count)
      where bytes[place..<place + node.count].elementsEqual(node) {
        bytes[place + node.count] = 77
      }
      try SampleStore.write(bytes, to: store)
      let dump = try mooringDump("records", "Episode", "--select", "id", store: store)
      #expect(dump.status == 65)
      #expect(
        dump.lines == [1, 2, 4, 5].map { #"{"_id":\#($0),"id":"ep:\#($0)"}"# })
      #expect(
        dump.messages == [
          "mooring-dump: a record's header is unreadable (entity: Episode, id: 3); "
            + "run `mooring check`",
          "mooring-dump: 1 records of Episode cannot be read",
        ])
      let check = try mooring("check", store: store)
      #expect(check.status == 65)
      #expect(check.output.contains("Episode 3: the record is unreadable"))
    }
  }

  /// Two at a time: the machine's cores, and bounded processes.
  private func inParallel<T: Sendable>(
    _ items: [T], _ body: @escaping @Sendable (T) throws -> Void
  ) throws {
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: items.count) { index in
      do { try body(items[index]) } catch { failures.add(error) }
    }
    if let first = failures.first { throw first }
  }
}

private final class Failures: @unchecked Sendable {
  // SAFETY: `errors` is touched only with the lock held.
  private let lock = NSLock()
  private var errors: [any Error] = []

  func add(_ error: any Error) { lock.withLock { errors.append(error) } }
  var first: (any Error)? { lock.withLock { errors.first } }
}
