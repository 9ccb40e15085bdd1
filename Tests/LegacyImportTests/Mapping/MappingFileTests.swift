import EntityModel
import Foundation
import StrictYAML
import TestSupport
import Testing

@testable import LegacyImport

@Suite struct MappingFileTests {
  private static let example = """
    # what was found
    import: podcasts
    dialect: coreData
    rejects: 0.1%
    entities:
      # 3 rows
      - entity: Feed
        table: ZFEED
        key: [Z_PK]
        match: [url]
        attributes:
          url: ZURL
      - entity: Article
        table: ZITEM
        where: { Z_ENT: [3], ZKIND: [null, a, 1.0] }
        unless: { ZDELETED: [1] }
        key: [Z_PK]
        match: [guid]
        attributes:
          guid: ZGUID
          # 0 stands for no date
          publishedAt: { column: ZPUBLISHEDAT, date: coreDataSeconds, nullValues: [0] }
          kind: { value: video }
          artwork: { column: ZARTWORK, external: true }
          title: { column: ZSUMMARY, badText: latin1, trim: true }
          duration: { column: ZSTATE, unconfirmed: "0 and 1 only" }
          words: { column: ZWORDS, archive: [NSArray, NSString] }
        relationships:
          feed: { column: ZFEED, table: ZFEED, orphan: drop }
          playlists: { join: Z_4LISTS, owner: Z_4ITEMS, target: Z_6LISTS, table: ZLIST }
      - entity: Playlist
        table: ZLIST
        key: [Z_PK]
        relationships:
          items: { join: Z_4LISTS, owner: Z_6LISTS, target: [Z_4ITEMS], order: Z_FOK, table: ZITEM }
    skip:
      tables: [ACHANGE, ATRANSACTION]
      columns: { ZITEM: [Z_OPT] }
    """

  private static let mapping = ImportMapping(
    name: "podcasts", dialect: .coreData,
    entities: [
      EntityMapping(
        entity: "Feed", table: "ZFEED", key: ["Z_PK"], match: ["url"],
        attributes: [.init(attribute: "url", type: .string, source: .column("ZURL"))]),
      EntityMapping(
        entity: "Article", table: "ZITEM",
        filter: RowFilter(
          isOneOf: ["Z_ENT": ["3"], "ZKIND": [nil, "a", "1"]], isNoneOf: ["ZDELETED": ["1"]]),
        key: ["Z_PK"], match: ["guid"],
        attributes: [
          .init(attribute: "guid", type: .string, source: .column("ZGUID")),
          .init(
            attribute: "publishedAt", type: .date, source: .column("ZPUBLISHEDAT"),
            conversion: Conversion(nullValues: ["0"], date: .coreDataSeconds)),
          .init(attribute: "kind", type: kinds, source: .constant("video")),
          .init(
            attribute: "artwork", type: .data, source: .column("ZARTWORK"), content: .external),
          .init(
            attribute: "title", type: .string, source: .column("ZSUMMARY"), badText: .latin1,
            conversion: Conversion(trims: true)),
          .init(
            attribute: "duration", type: .int64, source: .column("ZSTATE"),
            unconfirmed: "0 and 1 only"),
          .init(
            attribute: "words", type: .strings, source: .column("ZWORDS"),
            content: .archive(classes: ["NSArray", "NSString"], keepsBytes: false)),
        ],
        relationships: [
          .init(relationship: "feed", source: .columns(["ZFEED"]), table: "ZFEED", orphan: .drop),
          .init(
            relationship: "playlists",
            source: .join(table: "Z_4LISTS", owner: ["Z_4ITEMS"], target: ["Z_6LISTS"], order: nil),
            table: "ZLIST"),
        ]),
      EntityMapping(
        entity: "Playlist", table: "ZLIST", key: ["Z_PK"],
        relationships: [
          .init(
            relationship: "items",
            source: .join(
              table: "Z_4LISTS", owner: ["Z_6LISTS"], target: ["Z_4ITEMS"], order: "Z_FOK"),
            table: "ZITEM")
        ]),
    ],
    skippedTables: ["ACHANGE", "ATRANSACTION"], skippedColumns: ["ZITEM": ["Z_OPT"]],
    rejectLimit: .share(0.001))

  private static let kinds = AttributeType.enumeration(
    Enumeration(cases: [
      .init(name: "article", rawValue: "article"), .init(name: "video", rawValue: "video"),
    ]))

  @Test func readsWhatTheFormatHas() throws {
    let read = try MappingFile.read(
      Array(Self.example.utf8), file: "map.yaml", schema: MappedSchema.podcasts())
    #expect(read == Self.mapping)
  }

  @Test func writesWithTheEvidenceAbove() throws {
    var mapping = Self.mapping
    mapping.evidence = ["one\nline of \u{7}text"]
    mapping.entities[0].evidence = [String(repeating: "word ", count: 30) + "end"]
    mapping.entities[0].attributes[0].evidence = ["3 texts"]
    let text = MappingFile.text(of: mapping)
    #expect(
      text.hasPrefix(
        """
        # one line of \u{FFFD}text

        import: podcasts
        dialect: coreData
        rejects: 0.1%
        entities:
          # word word word word word word word word word word word word word word word word word word word
          #  word word word word word word word word word word word end
          - entity: Feed
            table: ZFEED
            key: [Z_PK]
            match: [url]
            attributes:
              # 3 texts
              url: ZURL

          - entity: Article
            table: ZITEM
            where: { ZKIND: [null, 1, a], Z_ENT: [3] }
            unless: { ZDELETED: [1] }
        """), "\(text)")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    #expect(text.contains("      publishedAt: { column: ZPUBLISHEDAT, nullValues: [0], date: core"))
    let read = try MappingFile.read(
      Array(text.utf8), file: "map.yaml", schema: MappedSchema.podcasts())
    #expect(read == Self.mapping)
  }

  @Test func aMappingOfNothingIsReadAsItWasWritten() throws {
    let mapping = ImportMapping(name: "a.b-1", dialect: .plain)
    let text = MappingFile.text(of: mapping)
    #expect(text == "import: a.b-1\ndialect: plain\nentities: []\n")
    #expect(try MappingFile.read(Array(text.utf8), file: "m", schema: Schema()) == mapping)
  }

  @Test func randomMappingsAreReadAsTheyWereWritten() throws {
    let seed = testSeed(71)
    let schema = try MappedSchema.podcasts()
    for round in 0..<300 {
      var random = RandomMapping(seed: seed &+ UInt64(round))
      let mapping = random.mapping(schema)
      let text = MappingFile.text(of: mapping)
      let read: ImportMapping
      do {
        read = try MappingFile.read(Array(text.utf8), file: "m", schema: schema)
      } catch {
        Issue.record("seed \(seed), round \(round): \(error)\n\(text)")
        return
      }
      try #require(read == mapping.withoutEvidence, "seed \(seed), round \(round):\n\(text)")
      #expect(MappingFile.text(of: read) == MappingFile.text(of: mapping.withoutEvidence))
    }
  }

  @Test func mutatedFilesNeverCrash() throws {
    let seed = testSeed(72)
    var random = SeededRandom(seed: seed)
    let schema = try MappedSchema.podcasts()
    let bytes = Array(Self.example.utf8)
    for _ in 0..<2_000 {
      var mutated = bytes
      for _ in 0..<random.number(1...3) {
        let place = random.number(0...mutated.count - 1)
        switch random.number(0...2) {
        case 0: mutated[place] = UInt8(random.number(0...255))
        case 1: mutated.remove(at: place)
        default:
          mutated.insert(contentsOf: mutated[place..<min(place + 9, mutated.count)], at: place)
        }
      }
      do {
        _ = try MappingFile.read(mutated, file: "m", schema: schema)
      } catch let error as YAMLError {
        #expect(!error.summary.contains("\n"))
      }
    }
  }
}
