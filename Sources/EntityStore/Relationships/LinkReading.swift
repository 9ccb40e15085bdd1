import EntityModel
import LMDB

/// Reading of links in place: from an attribute of the record, or from a range of an index. Another
/// record is read only if a rule of the relationship or a cut key requires it.
///
/// A view must be that of the record `id` in this transaction, and a closure must not write.
extension ReadTransaction {
  /// Returns the entity that a relationship leads to.
  package func destination(of relationship: RelationshipLayout) throws -> EntityLayout {
    try catalog.entity(relationship.description.destination)
  }

  /// Returns the record at the other end of a to-one relationship, or the first one of a to-many
  /// relationship.
  ///
  /// - Returns: `nil` without a link, and if the other record does not exist.
  func linked(
    _ relationship: RelationshipLayout, from view: RecordView, id: Int64
  ) throws -> Int64? {
    switch relationship.access {
    case .attribute(let position, let mayDangle):
      let field = view.field(position)
      if field.isNull { return nil }
      if mayDangle, try !exists(field.int64, in: try destination(of: relationship)) { return nil }
      return field.int64
    case .key(let index, let own):
      return try damageNamed(relationship, id) {
        try holder(of: index, valuesOf: view, own, in: relationship)
      }
    case .holders, .keyHolders, .links:
      var first: Int64?
      try eachLinked(relationship, from: view, id: id) { other in
        first = other
        return false
      }
      return first
    }
  }

  /// Calls the closure with each record at the other end, until it returns `false`: in the order of
  /// the relationship, then in order of record id.
  func eachLinked(
    _ relationship: RelationshipLayout, from view: RecordView, id: Int64,
    _ body: (Int64) throws -> Bool
  ) throws {
    switch relationship.access {
    case .attribute, .key:
      if let other = try linked(relationship, from: view, id: id) { _ = try body(other) }
    case .holders(let index):
      try prepareToRead(entityNamed: relationship.description.destination)
      try LinkKey.withPrefix(id) { prefix in
        try eachEntry(of: index, prefix) { entry in
          guard let other = index.objectID(key: entry.key, value: entry.value) else {
            throw StoreError.unreadableLink(relationship)
          }
          return try body(other)
        }
      }
    case .keyHolders(let index, let own):
      try prepareToRead(entityNamed: relationship.description.destination)
      try eachKeyHolder(index, own, relationship, from: view, id: id, body)
    case .links(let index, let entity, let back):
      try prepareToRead(entityNamed: entity)
      try eachLink(relationship, index, back, id: id, body)
    }
  }

  // MARK: Links by key

  /// Returns the record of the destination that has the values in its unique index.
  private func holder(
    of index: IndexLayout, valuesOf view: RecordView, _ own: [Int],
    in relationship: RelationshipLayout
  ) throws -> Int64? {
    guard try linkKey.write(index, valuesOf: view, own) else { return nil }
    let key = linkKey.writer.bytes
    guard let value = try transaction.get(index.tree, key),
      let other = index.objectID(key: key, value: value)
    else { return nil }
    guard linkKey.writer.isCut else { return other }
    // The key holds only a hash of a long value, so the values in the record are compared as well.
    let destination = try destination(of: relationship)
    guard let found = try storedView(of: other, in: destination) else { return nil }
    return try haveSameValues(found, index, view, own) ? other : nil
  }

  private func eachKeyHolder(
    _ index: IndexLayout, _ own: [Int], _ relationship: RelationshipLayout, from view: RecordView,
    id: Int64, _ body: (Int64) throws -> Bool
  ) throws {
    let isThere = try damageNamed(relationship, id) {
      try linkKey.write(index, valuesOf: view, own)
    }
    guard isThere else { return }
    // Copied, because the closure may follow other links by key.
    let prefix = Array(linkKey.writer.bytes)
    let isCut = linkKey.writer.isCut
    let holders = isCut ? try destination(of: relationship) : nil
    try prefix.withUnsafeBytes { prefix in
      try eachEntry(of: index, prefix) { entry in
        guard let other = index.objectID(key: entry.key, value: entry.value) else {
          throw StoreError.unreadableLink(relationship)
        }
        if let holders {
          // Long values that begin with the same bytes share the range.
          guard let found = try storedView(of: other, in: holders),
            try damageNamed(
              relationship, other, { try haveSameValues(found, index, view, own) })
          else { return true }
        }
        return try body(other)
      }
    }
  }

  private func haveSameValues(
    _ other: RecordView, _ index: IndexLayout, _ view: RecordView, _ own: [Int]
  ) throws -> Bool {
    for (part, position) in zip(index.parts, own)
    where try other.value(part.position) != view.value(position) {
      return false
    }
    return true
  }

  private func damageNamed<R>(
    _ relationship: RelationshipLayout, _ id: Int64, _ body: () throws -> R
  ) throws -> R {
    do {
      return try body()
    } catch is RecordDamage {
      throw StoreError.damaged(
        "a record with links is unreadable", entity: relationship.inverse.destination, id: id)
    }
  }

  // MARK: Links that are records

  private func eachLink(
    _ relationship: RelationshipLayout, _ index: IndexLayout, _ back: IndexLayout?, id: Int64,
    _ body: (Int64) throws -> Bool
  ) throws {
    var shouldContinue = true
    func each(_ index: IndexLayout, _ body: (Int64) throws -> Bool) throws {
      try LinkKey.withPrefix(id) { prefix in
        try eachEntry(of: index, prefix) { entry in
          guard let other = LinkKey.last(of: index, entry.key) else {
            throw StoreError.unreadableLink(relationship)
          }
          shouldContinue = try body(other)
          return shouldContinue
        }
      }
    }
    // A link stores the lesser id first, so the links to lesser ids come from the other index.
    if let back { try each(back, body) }
    guard shouldContinue else { return }
    try each(index) { other in
      if back != nil, other == id { return true }  // linked to itself: was among the former
      return try body(other)
    }
  }

  /// Calls the closure with each entry whose key begins with the bytes, until it returns `false`.
  func eachEntry(
    of index: IndexLayout, _ prefix: UnsafeRawBufferPointer, _ body: (Cursor.Entry) throws -> Bool
  ) throws {
    var cursor = try transaction.cursor(index.tree)
    var entry = try cursor.seek(atLeast: prefix)
    while let found = entry, LinkKey.begins(found.key, with: prefix) {
      try countVisit()
      guard try body(found) else { return }
      entry = try cursor.next()
    }
  }
}

extension StoreError {
  static func unreadableLink(_ relationship: RelationshipLayout) -> StoreError {
    .damaged("an index entry is unreadable", entity: relationship.description.destination)
  }
}
