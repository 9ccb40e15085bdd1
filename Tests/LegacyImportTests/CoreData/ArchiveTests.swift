import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import LegacyImport

/// Compressed bytes, archives, and the values in them, valid and damaged.
@Suite struct ArchiveTests {
  private static let all: Set<String> = [
    "NSString", "NSNumber", "NSDate", "NSURL", "NSUUID", "NSData", "NSArray", "NSSet",
    "NSDictionary",
    "NSNull",
  ]

  // MARK: DEFLATE

  @Test func compressedBytesAreInflated() throws {
    let content = [UInt8](repeating: 7, count: 100_000)
    #expect(try RawDeflate.inflated(StoredDeflate.bytes(of: content)) == content)
    #expect(try RawDeflate.inflated(StoredDeflate.bytes(of: [])) == [])
  }

  @Test func invalidDeflateIsRefused() {
    let sound = StoredDeflate.bytes(of: Array("model".utf8))
    let cases: [([UInt8], String)] = [
      ([], "its end is missing"), (Array(sound.dropLast()), "its end is missing"),
      (sound + [0], "something follows its end"), ([0xFF, 0xFF, 1, 2, 3], "it is no DEFLATE"),
      (StoredDeflate.bytes(of: [UInt8](repeating: 0, count: 70_000)), "more than 65536 bytes"),
    ]
    for (bytes, text) in cases {
      let error = #expect(throws: ArchiveDamage.self) {
        try RawDeflate.inflated(bytes, limit: 65_536)
      }
      #expect(error?.text.contains(text) == true, "\(error?.text ?? "")")
    }
  }

  // MARK: Values

  @Test func plainObjectsBecomeTheirValues() throws {
    let date = Date(timeIntervalSinceReferenceDate: 600_000_000.5)
    let uuid = UUID()
    let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
    var archive = ArchiveWriter()
    let url = archive.add(
      "NSURL",
      ["NS.base": ArchiveWriter.null, "NS.relative": archive.add(.string("https://a.example/b"))])
    let relative = archive.add(
      "NSURL",
      [
        "NS.base": archive.add(.string("https://a.example/b/")),
        "NS.relative": archive.add(.string("c")),
      ])
    let cases: [(PropertyListValue, Value)] = [
      (archive.add(.string("text")), .string("text")), (archive.add(.int64(-3)), .int64(-3)),
      (archive.add(.double(1.5)), .double(1.5)), (archive.add(.bool(true)), .bool(true)),
      (archive.add(.data(Data([1, 2]))), .data(Data([1, 2]))), (ArchiveWriter.null, .null),
      (archive.add("NSMutableString", ["NS.string": .string("m")]), .string("m")),
      (archive.add("NSString", ["NS.bytes": .data(Data("é".utf8))]), .string("é")),
      (archive.add("NSNumber", ["NS.intval": .int64(4)]), .int64(4)),
      (archive.add("NSMutableData", ["NS.data": .data(Data([9]))]), .data(Data([9]))),
      (archive.add("NSDate", ["NS.time": .double(600_000_000.5)]), .date(date)),
      (archive.add("NSUUID", ["NS.uuidbytes": .data(bytes)]), .uuid(uuid)),
      (archive.add("NSNull", [:]), .null),
    ]
    for (root, value) in cases {
      #expect(try self.value(archive, root) == value)
    }
    #expect(try value(archive, url).text == "https://a.example/b")
    #expect(try value(archive, relative).text == "https://a.example/b/c")
  }

  @Test func listsOfTextsAreListsAndOtherNestingsAreJSON() throws {
    var archive = ArchiveWriter()
    let texts = ["b", "a"].map { archive.add(.string($0)) }
    let list = archive.array(texts, of: "NSMutableArray")
    let setOfTexts = archive.array(texts, of: "NSSet")
    let empty = archive.array([])
    #expect(try value(archive, list) == .strings(["b", "a"]))
    #expect(try value(archive, setOfTexts) == .strings(["a", "b"]))
    #expect(try value(archive, empty) == .strings([]))
    let chapter = archive.dictionary([
      ("title", archive.add(.string("Intro \"1\"\n"))), ("start", archive.add(.int64(0))),
      ("end", archive.add(.double(1.5))), ("seen", archive.add(.bool(true))),
      ("at", archive.add("NSDate", ["NS.time": .double(0)])),
      ("art", archive.add(.data(Data([1])))),
      ("none", ArchiveWriter.null),
    ])
    let set = archive.array([archive.add(.int64(2)), archive.add(.int64(1))], of: "NSSet")
    let root = archive.array([chapter, set, list])
    #expect(
      try value(archive, root)
        == .string(
          #"[{"art":"AQ==","at":"2001-01-01T00:00:00Z","end":1.5,"none":null,"seen":true,"#
            + #""start":0,"title":"Intro \"1\"\n"},[1,2],["b","a"]]"#))
    #expect(
      try KeyedArchiveValue.classNames(in: archive.bytes(root: root))
        == ["NSArray", "NSData", "NSDate", "NSDictionary", "NSNumber", "NSSet", "NSString"])
  }

  @Test func aClassThatIsNotAllowedIsNamed() throws {
    var archive = ArchiveWriter()
    let cover = archive.add("App.Cover", ["image": .data(Data())])
    let root = archive.array([archive.add(.string("a")), cover])
    #expect(throws: KeyedArchiveFailure.classNotAllowed("App.Cover")) { try value(archive, root) }
    #expect(throws: KeyedArchiveFailure.classNotAllowed("NSString")) {
      try KeyedArchiveValue.value(of: archive.bytes(root: root), allowing: ["NSArray"])
    }
    #expect(throws: KeyedArchiveFailure.unknownClass("App.Cover")) {
      try KeyedArchiveValue.value(
        of: archive.bytes(root: root), allowing: ["NSArray", "NSString", "App.Cover"])
    }
  }

  // MARK: Hostile archives

  @Test func circlesAndDeepNestingEnd() throws {
    var archive = ArchiveWriter()
    let circle = archive.reserve()
    archive.fill(circle, "NSArray", ["NS.objects": .array([circle])])
    var deep = archive.add(.int64(1))
    for _ in 0..<80 { deep = archive.array([deep]) }
    for root in [circle, deep] {
      let error = #expect(throws: KeyedArchiveFailure.self) { try value(archive, root) }
      #expect(error?.description.contains("nested too deeply") == true)
    }
  }

  /// Thirty objects that expand to two to the thirtieth.
  @Test func archivesThatExpandExponentiallyAreRefused() throws {
    var archive = ArchiveWriter()
    var root = archive.add(.string(String(repeating: "x", count: 1_000)))
    for _ in 0..<30 { root = archive.array([root, root]) }
    #expect(throws: KeyedArchiveFailure.self) { try value(archive, root) }
    root = archive.add(.string(String(repeating: "x", count: 1 << 20)))
    root = archive.array([PropertyListValue](repeating: root, count: 16))
    let error = #expect(throws: KeyedArchiveFailure.self) { try value(archive, root) }
    #expect(error?.description.contains("longer than") == true)
  }

  @Test func referencesThatLeadNowhereAreRefused() throws {
    var archive = ArchiveWriter()
    let toReference = archive.add(.reference(1))
    let cases: [(PropertyListValue, String)] = [
      (.reference(99), "beyond its objects"), (toReference, "points to a reference"),
      (.reference(Int(UInt32.max)), "beyond its objects"),
      (archive.add(.dictionary(["$class": .reference(77)])), "has no class"),
      (archive.add(.dictionary(["$class": .string("NSArray")])), "has no class"),
      (archive.add("NSArray", [:]), "has no elements"),
      (archive.add("NSDictionary", ["NS.keys": .array([])]), "as many keys as values"),
      (archive.add("NSUUID", ["NS.uuidbytes": .data(Data([1]))]), "has not what it should"),
      (archive.add(.array([])), "of no class"),
      (archive.dictionary([("a", ArchiveWriter.null), ("a", ArchiveWriter.null)]), "occurs twice"),
    ]
    for (root, text) in cases {
      let error = #expect(throws: KeyedArchiveFailure.self) { try value(archive, root) }
      #expect(error?.description.contains(text) == true, "\(error?.description ?? "")")
    }
    for list: PropertyListValue in [
      .dictionary([:]), .array([]), .dictionary(["$top": .bool(true)]),
    ] {
      let error = #expect(throws: ArchiveDamage.self) {
        try KeyedArchive(PropertyListWriter.bytes(of: list))
      }
      #expect(error?.text == "it is a property list, but no keyed archive")
    }
  }

  @Test(arguments: [UInt64(1), 2])
  func mutatedArchivesAndModelsNeverCrash(seed: UInt64) throws {
    var random = SeededRandom(seed: testSeed(seed))
    let model = ModelWriter.archive(of: try Podcasts.model())
    var archive = ArchiveWriter()
    let nested = archive.dictionary([
      ("a", archive.array([archive.add(.string("b")), archive.add(.double(1))], of: "NSSet"))
    ])
    let value = archive.bytes(root: nested)
    var (refused, read) = (0, 0)
    for _ in 0..<1_000 {
      for sound in [model, value] {
        var bytes = sound
        for _ in 0..<random.number(1...3) {
          bytes[random.number(0...bytes.count - 1)] = UInt8(random.number(0...255))
        }
        if random.oneIn(8) { bytes = Array(bytes.prefix(random.number(0...bytes.count))) }
        do {
          if sound.count == model.count {
            _ = try ModelArchive.model(in: bytes)
          } else {
            _ = try KeyedArchiveValue.value(of: bytes, allowing: Self.all)
          }
          read += 1
        } catch {
          refused += 1
        }
      }
    }
    #expect(refused > 100 && read > 100, "seed \(seed): \(refused) refused, \(read) read")
  }

  private func value(_ archive: ArchiveWriter, _ root: PropertyListValue) throws -> Value {
    try KeyedArchiveValue.value(of: archive.bytes(root: root), allowing: Self.all)
  }
}
