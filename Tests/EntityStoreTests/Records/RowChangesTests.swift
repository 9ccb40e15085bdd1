import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

@Suite struct RowChangesTests {
  private static let kinds = ValueKind.allCases

  @Test func changingARecordYieldsTheBytesOfAnInsertedOne() throws {
    var random = SeededRandom(seed: testSeed(41))
    for round in 0..<(isThorough ? 20_000 : 1_500) {
      let place: Comment = "seed \(random.seed), round \(round)"
      let stored = Self.entity(attributes: random.number(1...40), using: &random)
      let bytes = RecordEncoder.encode(
        random.row(of: stored.attributes), version: 1, shape: stored.layouts[0],
        positions: RecordCodecTests.positions(stored))
      // Written before some of it was dropped.
      var entity = stored
      entity.attributes.removeAll { _ in random.oneIn(6) }
      var changes = RowChanges()
      for position in entity.attributes.indices where random.oneIn(3) {
        let kind = entity.attributes[position].type.kind
        changes.set(position, to: random.oneIn(4) ? .null : random.value(kind))
      }
      let plan = RecordPlan(
        entity.layouts[0], version: 1, positions: RecordCodecTests.positions(entity))
      let layout = RecordLayout(entity)
      try bytes.withUnsafeBytes { bytes in
        let old = try #require(layout.view(of: bytes))
        var whole: [UInt8] = []
        RecordEncoder.encode(changes.laid(over: try old.values()), as: plan, into: &whole)
        var changed: [UInt8] = []
        try RecordEncoder.encode(changes, over: old, as: plan, into: &changed)
        try #require(changed == whole, place)
      }
    }
  }

  @Test func aChangedCopyHasTheNewValues() async throws {
    try await withTemporaryStore(seed: 45) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      for _ in 0..<300 {
        var bytes: [UInt8] = []
        entity.encode(random.row(of: entity.description.attributes), into: &bytes)
        var changes = RowChanges()
        for (position, attribute) in entity.description.attributes.enumerated()
        where random.oneIn(3) {
          changes.set(position, to: random.oneIn(4) ? .null : random.value(attribute.type.kind))
        }
        let copy = RowCopy(bytes, of: entity)
        var expected: [UInt8] = []
        entity.encode(changes.laid(over: copy.values()), into: &expected)
        var changed = copy
        for change in changes.entries { changed.set(change.value, at: change.position) }
        try #require(changed.withBytes { Array($0) } == expected, "\(random.seed)")
      }
    }
  }

  @Test func onlyTheChangesThatAreNotLeftOutRemain() {
    var changes = RowChanges()
    for position in 0..<5 { changes.set(position, to: .int64(Int64(position))) }
    let rest = changes.without { $0.position % 2 == 1 }
    #expect(rest.entries.map(\.position) == [0, 2, 4])
    #expect(rest[4] == .int64(4) && rest[3] == nil)
    let (all, none) = (changes.without { _ in false }, changes.without { _ in true })
    #expect(all.entries.count == 5 && none.isEmpty)
  }

  @Test func aChangeOfADamagedRecordIsRefusedOrMakesARecord() throws {
    var random = SeededRandom(seed: testSeed(42))
    for _ in 0..<2_000 {
      let entity = Self.entity(attributes: random.number(1...12), using: &random)
      let plan = RecordPlan(
        entity.layouts[0], version: 1, positions: RecordCodecTests.positions(entity))
      let layout = RecordLayout(entity)
      var bytes: [UInt8] = []
      RecordEncoder.encode(random.row(of: entity.attributes), as: plan, into: &bytes)
      for _ in 0..<random.number(1...4) {
        bytes[random.number(2...bytes.count - 1)] ^= 1 << UInt8(random.number(0...7))
      }
      var changes = RowChanges()
      changes.set(0, to: random.value(entity.attributes[0].type.kind))
      try bytes.withUnsafeBytes { bytes in
        let old = try #require(layout.view(of: bytes))
        var changed: [UInt8] = []
        do {
          try RecordEncoder.encode(changes, over: old, as: plan, into: &changed)
        } catch {
          return
        }
        #expect(plan.isSound(UnsafeRawBufferPointer(bytes)))
        #expect(changed.withUnsafeBytes { plan.isSound($0) })
      }
    }
  }

  /// `Wide` has texts only, which a copy checks together if they are ASCII.
  @Test(arguments: ["Sample", "Wide"])
  func aCopyOfADamagedRecordIsRefusedOrEqualsTheRecord(entity name: String) async throws {
    try await withTemporaryStore(seed: 44) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity(name)
      var refused = 0
      for _ in 0..<1_000 {
        var row = random.row(of: entity.description.attributes)
        if name == "Wide", random.oneIn(2) {
          row = row.map { _ in .string(String(repeating: "a", count: random.number(0...20))) }
        }
        var bytes: [UInt8] = []
        entity.encode(row, into: &bytes)
        for _ in 0..<random.number(0...4) {
          bytes[random.number(2...bytes.count - 1)] ^= 1 << UInt8(random.number(0...7))
        }
        try bytes.withUnsafeBytes { bytes in
          let view = try #require(entity.record.view(of: bytes))
          do {
            let copy = try RowCopy(view, of: entity, at: 0)
            let values = (0..<view.attributeCount).map(copy.value)
            // Not the values: NaN equals nothing, and a text its other spelling. And not their
            // descriptions: that of a date beyond all calendars traps.
            let texts = values.map { Array($0.text.utf8) }
            try #require(texts == (try view.values().map { Array($0.text.utf8) }), "\(random.seed)")
            for (position, value) in values.enumerated() {
              #expect(copy.int64(position) == value.wholeNumber)
              #expect(copy.double(position).map(\.bitPattern) == value.seconds.map(\.bitPattern))
              guard case .string(let text) = value else { continue }
              #expect(copy.hasText(text, at: position))
              #expect(!copy.hasText(text + "x", at: position))
            }
            var changed = copy
            let position = random.number(0...texts.count - 1)
            let value = random.value(entity.description.attributes[position].type.kind)
            changed.set(value, at: position)
            var expected = texts
            expected[position] = Array(value.text.utf8)
            #expect(changed.values().map { Array($0.text.utf8) } == expected, "\(random.seed)")
          } catch is RecordDamage {
            refused += 1
            #expect(throws: RecordDamage.self) { try view.values() }
          }
        }
      }
      #expect(refused > 50)
    }
  }

  /// The integrity check at the end of the store finds an index that was not kept up.
  @Test func changesReadBackAndTheRestStays() async throws {
    try await withTemporaryStore(seed: 43) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      let attributes = entity.description.attributes
      // Unique in most of its rows, so that most changes are taken.
      let rows = (0..<60).map { _ in random.row(of: attributes) }
      var expected: [Int64: [Value]] = [:]
      for row in rows {
        do {
          let id = try await temporary.store.write { try $0.insert(row, into: entity) }
          expected[id] = row
        } catch let error as StoreError {
          #expect(error.code == .uniqueViolation)
        }
      }
      var taken = 0
      for _ in 0..<400 {
        let id = random.pick(expected.keys.sorted())
        let row = random.row(of: attributes)
        var changes = RowChanges()
        for position in attributes.indices where random.oneIn(4) {
          changes.set(position, to: row[position])
        }
        do {
          let changes = changes
          try await temporary.store.write { try $0.update(changes, id: id, in: entity) }
          expected[id] = expected[id].map { changes.laid(over: $0) }
          taken += 1
        } catch let error as StoreError {
          #expect(error.code == .uniqueViolation)
        }
        let stored = try temporary.store.read { try $0.row(id, of: entity)?.values() }
        try #require(stored == expected[id], "seed \(random.seed)")
      }
      #expect(taken > 50)
    }
  }

  @Test func aRowOfChangesIsTheDefaultsWithTheseInThem() async throws {
    try await withTemporaryStore(seed: 45) { temporary in
      var random = temporary.random
      let entity = try temporary.store.catalog().entity("Sample")
      let attributes = entity.description.attributes
      let required = try RowRules(entity).unfilled
      #expect(required.map { attributes[$0].name } == ["name"])
      for _ in 0..<100 {
        var changes = RowChanges()
        let row = random.row(of: attributes)
        for position in attributes.indices where required.contains(position) || random.oneIn(3) {
          changes.set(position, to: row[position])
        }
        let given = changes
        do {
          let id = try await temporary.store.write { try $0.insert(given, into: entity) }
          let stored = try temporary.store.read { try $0.row(id, of: entity)?.values() }
          #expect(stored == given.laid(over: entity.newRow()), "seed \(random.seed)")
        } catch let error as StoreError {
          #expect(error.code == .uniqueViolation)
        }
      }
      let error = await #expect(throws: StoreError.self) {
        try await temporary.store.write { _ = try $0.insert(RowChanges(), into: entity) }
      }
      #expect(error?.code == .validation)
    }
  }

  @Test func anOutdatedCopyIsNotMistakenForTheRecord() async throws {
    try await withTemporaryStore(seed: 46) { temporary in
      let store = temporary.store
      let entity = try store.catalog().entity("Sample")
      let (name, title) = (try entity.position(of: "name"), try entity.position(of: "title"))
      let id = try await store.write {
        try $0.insert("Sample", ["name": "a", "title": "b"]).number
      }
      @Sendable func set(
        _ position: Int, _ text: String, in copy: RowCopy, _ transaction: WriteTransaction
      ) throws {
        var changed = copy
        changed.set(text, at: position)
        try transaction.update(changed, id: id, in: entity)
      }
      // Of the same transaction, with a change in between; of an earlier one; of a reader.
      let early = try await store.write { transaction in
        let copy = try #require(try transaction.copy(of: id, in: entity))
        try set(name, "c", in: copy, transaction)
        try set(title, "d", in: copy, transaction)
        let row = try transaction.row(id, of: entity)?.values()
        #expect(row?[name] == "c" && row?[title] == "d")
        return try #require(try transaction.row(id, of: entity)?.copy())
      }
      let read = try store.read { try #require(try $0.row(id, of: entity)?.copy()) }
      try await store.write { try set(name, "e", in: early, $0) }
      try await store.write { try set(title, "f", in: read, $0) }
      let row = try store.read { try $0.row(id, of: entity)?.values() }
      #expect(row?[name] == "e" && row?[title] == "f")
    }
  }

  /// The update would otherwise read a page that the writes in between have moved.
  @Test func aCopyIsWrittenAfterWritesOfOtherRecords() async throws {
    try await withTemporaryStore(seed: 48) { temporary in
      let entity = try temporary.store.catalog().entity("Sample")
      let (rank, title) = (try entity.position(of: "rank"), try entity.position(of: "title"))
      let long = Value.string(String(repeating: "t", count: 99))
      let id = try await temporary.store.write { transaction in
        let ids = try (0..<99).map { try transaction.insert("Sample", ["name": .string("\($0)")]) }
        var copy = try #require(try transaction.copy(of: ids[7].number, in: entity))
        for id in ids.prefix(50) { try transaction.update(id) { try $0.set("title", to: long) } }
        for id in ids.suffix(49) { try transaction.delete(id) }
        copy.set(Int64(8), at: rank)
        try transaction.update(copy, id: ids[7].number, in: entity)
        return ids[7].number
      }
      let row = try temporary.store.read { try $0.row(id, of: entity)?.values() }
      #expect(row?[rank] == 8 && row?[title] == long)
    }
  }

  @Test func valuesThatAreSetInACopyAreValidated() async throws {
    try await withTemporaryStore(seed: 47) { temporary in
      let (store, entity) = (temporary.store, try temporary.store.catalog().entity("Sample"))
      var random = temporary.random
      let row = random.row(of: entity.description.attributes)
      let id = try await store.write { try $0.insert(row, into: entity) }
      var refused = 0
      for (position, attribute) in entity.description.attributes.enumerated() {
        let notANumber: Value =
          attribute.type.kind == .date
          ? .date(Date(timeIntervalSinceReferenceDate: .nan)) : .double(.nan)
        let isNumber = [.date, .double].contains(attribute.type.kind)
        for value in isNumber ? [.null, notANumber] : [.null] {
          var changes = RowChanges()
          changes.set(position, to: value)
          var codes: [StoreError.Code?] = []
          for isCopy in [false, true] {
            do {
              try await store.write { [changes] transaction in
                var copy = try #require(try transaction.row(id, of: entity)?.copy())
                if isCopy {
                  for change in changes.entries { copy.set(change.value, at: change.position) }
                  try transaction.update(copy, id: id, in: entity)
                } else {
                  try transaction.update(changes, id: id, in: entity)
                }
              }
              codes.append(nil)
            } catch let error as StoreError {
              #expect(error.property == attribute.name)
              codes.append(error.code)
              refused += 1
            }
          }
          #expect(codes[0] == codes[1], "\(attribute.name), seed \(random.seed)")
        }
      }
      #expect(refused >= 4)
    }
  }

  @Test func aRecordOfAnOlderLayoutIsChangedAsAWhole() async throws {
    try await withTemporaryFolder { folder in
      let id = try await openStore(at: folder.path("store")).write {
        try $0.insert("Sample", ["name": "a", "title": "b"])
      }
      let store = try openStore(
        at: folder.path("store"), migrations: [.grownModel], migrate: .pending)
      let entity = try store.catalog().entity("Sample")
      var changes = RowChanges()
      changes.set(try entity.position(of: "title"), to: "c")
      try await store.write { [changes] in try $0.update(changes, id: id.number, in: entity) }
      let record = try #require(try store.read { try $0.get(id) })
      #expect(try record["name"] == "a")
      #expect(try record["title"] == "c")
      #expect(try record["level"] == 3)
      let isCurrent = try store.read {
        try $0.view(of: id.number, in: entity).map(entity.record.isCurrent)
      }
      #expect(isCurrent == true)
      try requireClean(store)
    }
  }

  @Test func aChangeIsRefusedAsAWholeRowIs() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let team = try await store.write { try $0.insert("Team", ["name": "reds"]) }
      let player = try await store.write { try $0.insert("Player", ["name": "ann"]) }
      let entity = try store.catalog().entity("Player")
      func refusal(_ attribute: String, _ value: Value, id: Int64) async throws -> StoreError? {
        var changes = RowChanges()
        changes.set(try entity.position(of: attribute), to: value)
        do {
          try await store.write { [changes] in try $0.update(changes, id: id, in: entity) }
          return nil
        } catch let error as StoreError {
          return error
        }
      }
      let required = try await refusal("name", .null, id: player.number)
      #expect(required?.code == .validation)
      #expect(required?.property == "name")
      #expect(try await refusal("goals", "many", id: player.number)?.code == .validation)
      #expect(try await refusal("goals", 1, id: 999)?.code == .missingRecord)
      let reference = entity.description.attributes[entity.references[0].position].name
      #expect(try await refusal(reference, 999, id: player.number)?.code == .validation)
      #expect(try await refusal(reference, .int64(team.number), id: player.number) == nil)
      let record = try #require(try store.read { try $0.get(player) })
      #expect(try record["name"] == "ann")
      #expect(try record["goals"] == 0)
      #expect(try record[reference] == .int64(team.number))
    }
  }

  // MARK: Entities

  private static func entity(
    attributes count: Int, using random: inout SeededRandom
  ) -> EntityDescription {
    let attributes = (1...count).map { id in
      AttributeDescription(
        id: id, name: "a\(id)", type: RecordCodecTests.type(of: random.pick(kinds)),
        isOptional: true)
    }
    return EntityDescription(
      id: 1, name: "E", attributes: attributes,
      layouts: [
        RecordShape(slots: attributes.map { .init(attributeID: $0.id, kind: $0.type.kind) })
      ])
  }
}

extension Value {
  fileprivate var wholeNumber: Int64? { if case .int64(let number) = self { number } else { nil } }

  /// The value of a double, or the seconds of a date since the reference date; nil for others.
  fileprivate var seconds: Double? {
    switch self {
    case .double(let number): number
    case .date(let date): date.timeIntervalSinceReferenceDate
    default: nil
    }
  }
}
