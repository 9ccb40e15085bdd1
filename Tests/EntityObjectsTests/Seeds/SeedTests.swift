import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

/// Seeds that are applied.
@Suite struct SeedTests {
  private static let executable = childExecutable(named: "store-child")

  @Test func eachFormatMakesTheSameStore() async throws {
    var dumps: [[String]] = []
    let files = [
      ("first.yaml", Data(Kennel.yaml.utf8)), ("first.JSON", Data(Kennel.json.utf8)),
      ("first.plist", try Kennel.propertyList(.xml)),
      ("binary.plist", try Kennel.propertyList(.binary)),
    ]
    for (name, data) in files {
      try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
        let outcome = try await temporary.seed(data, name)
        #expect(outcome == .applied(Kennel.counts), "\(name)")
        dumps.append(try temporary.store.dump())
      }
    }
    for dump in dumps { #expect(dump == dumps[0]) }
  }

  @Test func valuesAndLinksAreAsTheFileSays() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let store = temporary.store
      try await temporary.seed(Data(Kennel.yaml.utf8), "first.yaml")
      try store.read { transaction in
        let fido = try #require(try transaction.get("Dog", by: ["name": "fido"]))
        let rex = try #require(try transaction.get("Dog", by: ["name": "rex"]))
        let values: [Value] = [
          "Fido", 3, .decimal(try #require(Decimal(string: "99.95"))), false,
          .uuid(try #require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))),
          .data(Data("hello".utf8)), .url(try #require(URL(string: "https://dogs.example/fido"))),
          2, .strings(["brown", "no"]), "v1",
        ]
        #expect(fido.fields.filter { !$0.name.hasPrefix("_") }.map(\.value).starts(with: values))
        // Its defaults, and null where null is written.
        #expect(try rex["isGood"] == true && rex["age"].isNull && rex["tags"].isNull)
        let walks = try transaction.related(fido.id, "walks").map { try transaction.get($0) }
        #expect(try walks.map { try $0?["kilometers"] } == [1.5, 2.25])
        #expect(try transaction.related(rex.id, "walks").count == 1)
        #expect(try transaction.related(fido.id, "friends") == [rex.id])
        #expect(try transaction.related(rex.id, "friends") == [fido.id])
        let vet = try #require(try transaction.objectID("Vet", by: ["code": "v1"]))
        #expect(try transaction.related(vet, "patients") == [fido.id, rex.id])
        let owner = try transaction.related(rex.id, "owner")
        #expect(try transaction.related(fido.id, "owner") == owner && owner.count == 1)
      }
    }
  }

  /// JSON as programs write it, most of which keep to ASCII.
  @Test(arguments: [
    (#"\ud83d\ude00"#, "😀"), (#"a\uD83D\uDE00b\ud83c\udf0d"#, "a😀b🌍"),
    (#"\\ud83d\u0041"#, #"\ud83dA"#), (#"\/\u00e9\""#, #"/é""#),
  ])
  func escapesOfJSONAreCharacters(escaped: String, code: String) async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let json = #"{"Vet": [{"code": "\#(escaped)"}]}"#
      try await temporary.seed(Data(json.utf8), "vets.json")
      #expect(
        try temporary.store.read { try $0.get("Vet", by: ["code": .string(code)]) } != nil)
      for half in [#"\ud83d"#, #"\ude00"#, #"\ud83d\u0041"#, #"\ud83d\ud83d\ude00"#] {
        await #expect(throws: StoreError.self) {
          try await temporary.seed(Data(#"{"Vet": [{"code": "\#(half)"}]}"#.utf8), "half.json")
        }
      }
    }
  }

  @Test func aRealOfAPropertyListIsADecimalHoweverSmall() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let dogs: [[String: Any]] = [0.00001, 1e20, 9.99].enumerated().map {
        ["name": "d\($0)", "vetCode": "v", "price": $1]
      }
      let data = try PropertyListSerialization.data(
        fromPropertyList: ["Dog": dogs], format: .xml, options: 0)
      try await temporary.seed(data, "dogs.plist")
      let prices = try temporary.store.fetch(FetchRequest(entityName: "Dog")).map {
        try $0["price"].text
      }
      #expect(prices == ["0.00001", "100000000000000000000", "9.99"])
    }
  }

  @Test func aSecondSeedingDoesNothing() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let store = temporary.store
      let path = temporary.folder.path("first.yaml")
      try Data(Kennel.yaml.utf8).write(to: URL(filePath: path))
      let at = temporary.clock.now
      _ = try await store.seed(from: path, named: "first")
      temporary.clock.advance(by: 60)
      #expect(
        try await store.seed(from: path, named: "first") == .appliedBefore(at: at, objects: 7))

      // Neither deleted data nor a file that is gone changes that.
      let before = try store.dump()
      try await store.write { transaction in
        for id in try transaction.fetchIdentifiers(FetchRequest(entityName: "Walk")) {
          try transaction.delete(id)
        }
      }
      try FileManager.default.removeItem(atPath: path)
      #expect(
        try await store.seed(from: path, named: "first") == .appliedBefore(at: at, objects: 7))
      #expect(try store.dump().count == before.count - 3)
      // By another name it is another seed.
      #expect(await code { try await store.seed(from: path, named: "second") } == .seed)
    }
  }

  @Test func aSeedLinksWithWhatIsInTheStoreAlready() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let store = temporary.store
      try await temporary.seed(Data(Kennel.yaml.utf8), "first.yaml")
      let more = "Walk: [{ date: now, dog: { name: fido } }]"
      #expect(try await temporary.seed(Data(more.utf8), "more.yml") == .applied(["Walk": 1]))
      try store.read { transaction in
        let fido = try #require(try transaction.objectID("Dog", by: ["name": "Fido"]))
        let walks = try transaction.related(fido, "walks")
        #expect(walks.count == 3)
        let date = try transaction.value("date", of: try #require(walks.last))
        #expect(date == .date(temporary.clock.now))
      }
    }
  }

  @Test func oneOfManyConcurrentSeedingsWrites() async throws {
    try await withTemporaryStore(migrations: [Kennel.source]) { temporary in
      let path = temporary.folder.path("first.yaml")
      try Data(Kennel.yaml.utf8).write(to: URL(filePath: path))
      let store = temporary.store
      let token = try store.historyToken()
      let outcomes = try await withThrowingTaskGroup(of: SeedOutcome.self) { group in
        for _ in 0..<8 {
          group.addTask { try await store.seed(from: path, named: "first", author: "setup") }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.filter { $0 == .applied(Kennel.counts) }.count == 1)
      let now = temporary.clock.now
      #expect(outcomes.filter { $0 == .appliedBefore(at: now, objects: 7) }.count == 7)
      #expect(try store.dump().count == 7)
      #expect(try store.history(after: token).map(\.author) == ["setup"])
    }
  }

  @Test func oneOfTwoConcurrentProcessesSeeds() async throws {
    try await withTemporaryStore { temporary in
      let folder = temporary.store.folder
      let path = temporary.folder.path("first.json")
      try Data(#"{"Sample": [{"name": "a"}, {"name": "b"}]}"#.utf8).write(to: URL(filePath: path))
      let children = try (0..<2).map { _ in
        try ChildProcess(Self.executable, ["store-seed", folder, path])
      }
      for child in children { #expect(child.readLine() == "ready") }
      for child in children { try child.writeLine("go") }
      let lines = children.map { $0.readLine() ?? "" }
      for child in children { #expect(child.waitForExit().status == 0) }
      #expect(lines.sorted() == ["applied 2", "before 2"])
      #expect(try temporary.store.read { try $0.count(of: "Sample") } == 2)
    }
  }
}

extension TemporaryStore {
  /// Seeds from a file of this name with these contents.
  @discardableResult
  func seed(_ data: Data, _ name: String) async throws -> SeedOutcome {
    let path = folder.path(name)
    try data.write(to: URL(filePath: path))
    return try await store.seed(from: path, named: name)
  }
}
