import Foundation
import Mooring

@testable import EntityStore

/// Reads the bytes as a record, by its attributes, by predicates and by the keys of indexes. Each
/// read gives a value or an error for a damaged record, and nothing beyond the bytes is read.
@_cdecl("fuzz_record_reader")
public func fuzzRecordReader(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // libFuzzer gives each input an allocation of its own size, so the address sanitizer sees a read
  // of one byte more.
  // SAFETY: libFuzzer keeps the `count` bytes until this returns, and the record is not kept.
  let record = UnsafeRawBufferPointer(start: bytes, count: count)
  let fixture = Fixture.shared
  do {
    try fixture.store.read { read(record, fixture, $0) }
  } catch {
    fatalError("no transaction: \(error)")
  }
}

private func read(
  _ bytes: UnsafeRawBufferPointer, _ fixture: Fixture, _ transaction: ReadTransaction
) {
  guard let view = fixture.entity.record.view(of: bytes) else { return }
  for position in 0..<view.attributeCount {
    ignoringDamage { _ = try view.value(position) }
  }
  for program in fixture.programs {
    ignoringDamage { _ = try program.matches(FetchRow(id: 1, view: view), in: transaction) }
  }
  var writer = KeyWriter()
  for index in fixture.entity.indexes {
    ignoringDamage { try index.eachKey(of: view, id: 1, writer: &writer) { _ in } }
  }
}

/// Ignores errors, which are correct for a damaged record. Traps and reads out of bounds are the
/// findings.
private func ignoringDamage(_ body: () throws -> Void) {
  do { try body() } catch { return }
}

/// An entity with every type in several layout versions, and predicates on all attributes.
private struct Fixture {
  let store: Store
  let entity: EntityLayout
  let programs: [PredicateProgram]

  // SAFETY: nothing changes it, and libFuzzer calls from one thread.
  nonisolated(unsafe) static let shared: Fixture = {
    do { return try Fixture() } catch { fatalError("no fixture: \(error)") }
  }()

  private init() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("mooring-fuzz-\(UUID().uuidString)", isDirectory: true)
    // The store has its files open, and needs their names no more.
    defer { ignoringDamage { try FileManager.default.removeItem(at: folder) } }
    store = try Store.open(
      at: folder.path, migrations: [MigrationSource(embedded: Self.migrations)], migrate: .ifEmpty)
    let entity = try store.catalog().entity("Sample")
    self.entity = entity
    programs = try store.read { transaction in
      let binder = Binder(.entity(entity), in: transaction)
      return try Self.formats.map { try binder.bind(try FetchPredicate(format: $0)) }
    }
  }

  private static let migrations: [(name: String, bytes: [UInt8])] = [
    ("0001_sample", Array(first.utf8)), ("0002_more", Array(second.utf8)),
  ]

  private static let first = """
    line: fuzz
    summary: Every type
    steps:
      - createEntity:
          name: Sample
          attributes:
            - { name: name, type: string }
            - { name: rank, type: int64, default: 0 }
            - { name: score, type: double, optional: true }
            - { name: price, type: decimal, optional: true }
            - { name: isOpen, type: bool, optional: true }
            - { name: dueAt, type: date, optional: true }
            - { name: token, type: uuid, optional: true }
            - { name: blob, type: data, optional: true }
            - { name: link, type: url, optional: true }
            - { name: tags, type: strings, optional: true }
            - { name: kind, type: enum, values: { small: 1, large: 2 }, optional: true }
            - { name: state, type: enum, values: [fresh, played], default: fresh }
      - createIndex: { on: Sample, name: byName, keys: [name], unique: true }
      - createIndex: { on: Sample, name: byScore, keys: [score desc, price] }
      - createIndex: { on: Sample, name: byDue, keys: [dueAt desc, isOpen], sparse: true }
      - createIndex: { on: Sample, name: byTag, keys: [rank desc, tags] }
      - createIndex: { on: Sample, name: byBlob, keys: [blob desc, token, link] }
    """

  private static let second = """
    line: fuzz
    summary: More attributes than the older records have
    steps:
      - addAttribute: { to: Sample, name: level, type: int64, default: 3 }
      - addAttribute: { to: Sample, name: remark, type: string, optional: true }
      - createIndex: { on: Sample, name: byLevel, keys: [level desc, remark] }
    """

  private static let formats = [
    "name == 'a' OR name != nil AND name > 'b'", "rank <= 3 AND NOT rank == nil",
    "score > 0.5 OR score == nil", "price < DECIMAL '9.99' AND price != nil",
    "isOpen == TRUE OR isOpen != nil", "dueAt >= DATE '2026-11-21T04:00:00Z'",
    "token == UUID '6BA7B810-9DAD-11D1-80B4-00C04FD430C8'", "blob > DATA 'AAEC'",
    "link != 'https://a.example'", "tags == STRINGS {'a', 'b'}", "kind == 'small'",
    "level > 2 AND remark == 'x'", "name CONTAINS[cd] 'é' OR remark LIKE '*a?' OR name ==[l] 'a2'",
    "name BEGINSWITH 'c' AND link ENDSWITH[c] 'E' AND name MATCHES '(a|b)*c.'",
    "ANY tags ==[cd] 'A' OR ALL tags BEGINSWITH 'b' OR tags.@count > 3 OR 'a' IN tags",
    "rank * 2 + level > score ** 2 - price / 3 OR -rank IN {1, 2}", "name <[d] remark",
    "score BETWEEN {0, 1} OR rank == score OR price >= rank OR SELF == OBJECT 'Sample/1'",
  ]
}
