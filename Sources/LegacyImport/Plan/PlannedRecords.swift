import EntityModel
import EntityStore
import SystemSupport

/// The records that a run would have written for the rows that a plan has read, and their values in
/// unique indexes.
final class PlannedRecords {
  private let bound: BoundMapping
  /// The rows, in a space below 0 for each part of a table, and the values, in the space of their
  /// index.
  private let keys: ScratchKeys
  /// Records of the store whose values a run would have changed, by entity.
  private var rewritten: [String: NumberSet] = [:]

  /// - Parameter folder: For what memory does not hold.
  init(_ bound: BoundMapping, in folder: String) throws {
    self.bound = bound
    keys = try ScratchKeys(in: folder)
  }

  // MARK: Rows

  /// Records that the row would have become a record of this part.
  func insert(_ identity: RowIdentity, part: Int) throws {
    _ = try keys.insert(identity.bytes, in: -1 - part)
  }

  /// - Returns: The entity of the record that the row would have; `nil` if it would have none.
  func entity(of row: RowKey, in target: any ImportDestination) throws -> String? {
    let parts = bound.table(named: row.table)?.parts ?? []
    for (number, part) in parts.enumerated()
    where try keys.contains(row.identity.bytes, in: -1 - number) {
      return part.mapping.entity
    }
    // One that the source has no more, or that would be rejected now, has the record that it had.
    return try target.read { try ImportLedger(in: $0).entry(of: row.identity)?.entity }
  }

  // MARK: Values

  /// Adds the values that a new or changed row would write.
  ///
  /// - Parameter entry: The ledger's entry for it.
  /// - Returns: Why the store would refuse it; nothing is taken in then.
  func refusal(
    _ mapped: MappedRow, of entity: BoundEntity, _ uniques: [UniqueValues], _ entry: LedgerEntry?,
    in snapshot: ReadTransaction
  ) throws -> Reject? {
    let name = entity.mapping.entity
    if let entry, entry.entity != name { return .otherEntity(entry.objectID) }
    var object = entry?.object
    var values: [(key: [UInt8], space: Int)] = []
    // By the index of the match first: whose record it is decides what is another's.
    for unique in uniques.sorted(by: { $0.isMatch && !$1.isMatch }) {
      guard let (key, value) = unique.key(of: mapped) else { continue }
      let names = unique.attributes.joined(separator: ", ")
      if try keys.contains(key, in: unique.space) {
        return Reject(.notUnique, names, "an earlier row has the same values")
      }
      let known = try snapshot.identifier(in: entity.layout, index: unique.index, by: value)
      if let known, known != object, rewritten[name]?.contains(known) != true {
        let id = ObjectID(entity: name, number: known)
        guard unique.isMatch, object == nil else {
          return Reject(.notUnique, names, "a record with these values exists: \(id)")
        }
        if try ImportLedger(in: snapshot).isMatched(id) { return .matched(id, names) }
        object = known
      }
      values.append((key, unique.space))
    }
    for (key, space) in values { _ = try keys.insert(key, in: space) }
    if let object { rewritten[name, default: NumberSet()].insert(object) }
    return nil
  }
}

/// A unique index all of whose attributes are mapped.
struct UniqueValues {
  let index: IndexLayout
  let attributes: [String]
  let isMatch: Bool
  /// The space in the scratch keys.
  let space: Int
  private let isSparse: Bool
  /// The position in the record and the number in the mapping, in the order of the index.
  private let places: [(position: Int, number: Int)]

  static func all(of entity: BoundEntity) throws -> [UniqueValues] {
    var all: [UniqueValues] = []
    let description = entity.layout.description
    for index in description.indexes where index.isUnique {
      var places: [(position: Int, number: Int)] = []
      for key in index.keys {
        guard
          let position = description.attributes.firstIndex(where: { $0.id == key.attributeID }),
          let number = entity.attributes.firstIndex(where: { $0.position == position })
        else { break }
        places.append((position, number))
      }
      guard places.count == index.keys.count else { continue }
      let names = places.map { description.attributes[$0.position].name }
      all.append(
        UniqueValues(
          index: try entity.layout.index(named: index.name), attributes: names,
          isMatch: Set(names) == Set(entity.mapping.match), space: index.id,
          isSparse: index.isSparse, places: places))
    }
    return all
  }

  /// - Returns: `nil` for a row that the index leaves out.
  func key(of mapped: MappedRow) -> (bytes: [UInt8], value: (Int) -> Value)? {
    var digest = ValueDigest()
    var values: [Int: Value] = [:]
    for place in places {
      let value = mapped.values[place.number]
      if isSparse, value.isNull { return nil }
      digest.append(value)
      values[place.position] = value
    }
    return (digest.key, { values[$0] ?? .null })
  }
}
