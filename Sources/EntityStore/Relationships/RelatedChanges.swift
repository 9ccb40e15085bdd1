public import EntityModel

/// Changes of relationships. Each may be made from either side and is then visible from both. A
/// call that fails has changed nothing.
///
/// All of them throw `unknownEntity`, `unknownRelationship`; `missingRecord` for a record that does
/// not exist; `invalidRequest` for a record of another entity, or if the relationship is not
/// to-one, to-many or ordered as the call requires; `validation` if a record would lose a required
/// link; `uniqueViolation`, `storage`.
extension WriteTransaction {
  /// Links a record with another one, or with none, by a to-one relationship. In a one-to-one
  /// relationship the other record loses its former link. A relationship by key writes the
  /// attributes of the key; to remove such a link, those of them that may be null and belong to no
  /// unique index become null.
  public func setRelated(_ id: ObjectID, _ relationship: String, to other: ObjectID?) throws {
    let edit = try LinkEdit(id, relationship, in: self)
    try edit.require(toMany: false, advice: "pass a list")
    let number = try other.map { try edit.number(of: $0) }
    try together { changes in
      if let number {
        if try edit.change.others(of: id.number) == [number] { return }
        try edit.change.link(id.number, to: number, &changes)
      } else {
        try edit.change.unlinkAll(of: id.number, &changes)
      }
    }
  }

  /// Links a record with exactly these others by a to-many relationship; an ordered relationship
  /// gets this order. If a record is given twice, its first position counts.
  public func setRelated(
    _ id: ObjectID, _ relationship: String, to others: [ObjectID]
  ) throws {
    let edit = try LinkEdit(id, relationship, in: self)
    try edit.require(toMany: true, advice: "pass one record or nil")
    let numbers = try edit.numbers(of: others)
    try together { try edit.set(numbers, &$0) }
  }

  /// Adds links from a record to others by a to-many relationship; records that are linked already
  /// keep their places.
  ///
  /// - Parameter index: The position in an ordered relationship, from 0; `nil` for the end.
  public func addRelated(
    _ others: [ObjectID], to id: ObjectID, _ relationship: String, at index: Int? = nil
  ) throws {
    let edit = try LinkEdit(id, relationship, in: self)
    try edit.require(toMany: true, advice: "use setRelated")
    if index != nil { try edit.requireOrdered() }
    let numbers = try edit.numbers(of: others)
    try together { try edit.add(numbers, at: index, &$0) }
  }

  /// Removes links of a record; records that are not linked with it are ignored.
  public func removeRelated(
    _ others: [ObjectID], from id: ObjectID, _ relationship: String
  ) throws {
    let edit = try LinkEdit(id, relationship, in: self)
    try edit.require(toMany: true, advice: "use setRelated with nil")
    let numbers = Set(try edit.numbers(of: others, mustExist: false))
    try together { changes in
      for other in try edit.change.others(of: id.number) where numbers.contains(other) {
        try edit.change.unlink(id.number, from: other, &changes)
      }
    }
  }

  /// Moves linked records of an ordered relationship, in the given order, so that the first of them
  /// is at `index` (from 0) in the new order.
  public func moveRelated(
    _ others: [ObjectID], of id: ObjectID, _ relationship: String, to index: Int
  ) throws {
    let edit = try LinkEdit(id, relationship, in: self)
    try edit.requireOrdered()
    let numbers = try edit.numbers(of: others)
    try together { try edit.move(numbers, to: index, &$0) }
  }
}

/// One record and one of its relationships that is to be changed.
private struct LinkEdit {
  let change: LinkChange
  private let id: ObjectID
  private let relationship: RelationshipLayout
  private let transaction: WriteTransaction

  init(_ id: ObjectID, _ name: String, in transaction: WriteTransaction) throws {
    let entity = try transaction.catalog.entity(id.entity)
    relationship = try entity.requiredRelationship(named: name)
    guard try transaction.exists(id.number, in: entity) else { throw StoreError.missing(id) }
    change = try LinkChange(relationship, of: entity, in: transaction)
    self.id = id
    self.transaction = transaction
  }

  // MARK: Check of the arguments

  func require(toMany: Bool, advice: String) throws {
    if relationship.isToMany == toMany { return }
    throw refusal(
      toMany ? "the relationship is to-one" : "the relationship is to-many", advice: advice)
  }

  func requireOrdered() throws {
    if relationship.description.isOrdered { return }
    throw refusal(
      "the relationship has no order of its own",
      advice: "change the attribute that orders it, if it has one")
  }

  func number(of other: ObjectID, mustExist: Bool = true) throws -> Int64 {
    let destination = try transaction.destination(of: relationship)
    guard other.entity == destination.name else {
      throw refusal(
        "the relationship leads to another entity",
        [("expected", destination.name), ("found", other.entity)])
    }
    guard try !mustExist || transaction.exists(other.number, in: destination) else {
      throw StoreError.missing(other)
    }
    return other.number
  }

  /// Returns the ids of the records, without duplicates.
  func numbers(of others: [ObjectID], mustExist: Bool = true) throws -> [Int64] {
    var seen: Set<Int64> = []
    return try others.map { try number(of: $0, mustExist: mustExist) }
      .filter { seen.insert($0).inserted }
  }

  // MARK: Changes

  func set(_ numbers: [Int64], _ changes: inout RecordChanges) throws {
    let wanted = Set(numbers)
    let linked = try change.others(of: id.number)
    for other in linked where !wanted.contains(other) {
      try change.unlink(id.number, from: other, &changes)
    }
    if relationship.description.isOrdered { return try arrange(numbers, &changes) }
    let known = Set(linked)
    for other in numbers where !known.contains(other) {
      try change.link(id.number, to: other, &changes)
    }
  }

  func add(_ numbers: [Int64], at index: Int?, _ changes: inout RecordChanges) throws {
    let linked = try change.others(of: id.number)
    let known = Set(linked)
    let new = numbers.filter { !known.contains($0) }
    guard let index else {
      for other in new { try change.link(id.number, to: other, &changes) }
      return
    }
    try checkIndex(index, 0...linked.count)
    try arrange(linked[..<index] + new + linked[index...], &changes)
  }

  func move(_ numbers: [Int64], to index: Int, _ changes: inout RecordChanges) throws {
    let places = try change.places(of: id.number)
    let linked = Set(places.map(\.other))
    for other in numbers where !linked.contains(other) {
      throw refusal(
        "a record to move is not linked",
        [
          (
            "record",
            ObjectID(entity: relationship.description.destination, number: other).description
          )
        ])
    }
    let moved = Set(numbers)
    let others = places.map(\.other).filter { !moved.contains($0) }
    try checkIndex(index, 0...others.count)
    try arrange(others[..<index] + numbers + others[index...], moved: moved, &changes)
  }

  private func checkIndex(_ index: Int, _ range: ClosedRange<Int>) throws {
    if range.contains(index) { return }
    throw refusal(
      "an index is out of range",
      [("index", String(index)), ("places", "0 to \(range.upperBound)")])
  }

  /// Adds the missing links, and writes the places that change.
  ///
  /// - Parameter moved: The records that get new places; the others keep theirs if possible.
  private func arrange(
    _ numbers: some Collection<Int64>, moved: Set<Int64> = [], _ changes: inout RecordChanges
  ) throws {
    let known = Dictionary(
      try change.places(of: id.number).map { ($0.other, $0.place) }
    ) { first, _ in first }
    let places = OrderedPlaces.filled(numbers.map { moved.contains($0) ? nil : known[$0] })
    for (other, place) in zip(numbers, places) {
      if let former = known[other] {
        if former != place { try change.setPlace(place, of: other, at: id.number, &changes) }
      } else {
        try change.link(id.number, to: other, at: place, &changes)
      }
    }
  }

  private func refusal(
    _ summary: StaticString, _ context: [(String, String)] = [], advice: String? = nil
  ) -> StoreError {
    StoreError(
      .invalidRequest, summary,
      [("entity", id.entity), ("relationship", relationship.name)] + context, advice: advice)
  }
}
