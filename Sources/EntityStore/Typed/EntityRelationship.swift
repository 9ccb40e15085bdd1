public import EntityModel

/// A stored property of a typed entity, and its relationship.
public struct EntityRelationship<Root: Entity>: Sendable {
  public let name: String
  public let keyPath: any PartialKeyPath<Root> & Sendable
  public let destination: any Entity.Type
  public let isToMany: Bool
  public let isOptional: Bool
  /// Returns the identity of the linked record; `nil` without a link and for a to-many
  /// relationship.
  @usableFromInline let link: @Sendable (Root) -> ObjectID?
  /// Reads the records that the relationship of these values leads to, and stores them in the
  /// values.
  let prefetch: @Sendable (inout [Root], ReadTransaction) throws -> Void
}

extension EntityRelationship {
  public init<T: Entity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, ToOne<T>?> & Sendable
  ) {
    self.init(
      name: name, keyPath: keyPath, destination: T.self, isToMany: false, isOptional: true
    ) {
      $0[keyPath: keyPath]?.id
    } prefetch: { rows, transaction in
      let others = try transaction.values(
        T.self, Set(rows.compactMap { $0[keyPath: keyPath]?.id }))
      for row in rows.indices {
        guard let id = rows[row][keyPath: keyPath]?.id else { continue }
        rows[row][keyPath: keyPath] = ToOne(id, others[id])
      }
    }
  }

  /// Creates a to-one relationship that is not optional.
  public init<T: Entity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, ToOne<T>> & Sendable
  ) {
    self.init(
      name: name, keyPath: keyPath, destination: T.self, isToMany: false, isOptional: false
    ) {
      $0[keyPath: keyPath].id
    } prefetch: { rows, transaction in
      let others = try transaction.values(T.self, Set(rows.map { $0[keyPath: keyPath].id }))
      for row in rows.indices {
        let id = rows[row][keyPath: keyPath].id
        rows[row][keyPath: keyPath] = ToOne(id, others[id])
      }
    }
  }

  public init<T: Entity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, ToMany<T>> & Sendable
  ) {
    self.init(
      name: name, keyPath: keyPath, destination: T.self, isToMany: true, isOptional: false
    ) { _ in
      nil
    } prefetch: { rows, transaction in
      let links = try rows.map { row in
        let link = row[keyPath: keyPath]
        return try link.owner.map { try transaction.related($0, link.relationship) } ?? []
      }
      let others = try transaction.values(T.self, Set(links.joined()))
      for row in rows.indices {
        rows[row][keyPath: keyPath].values = links[row].compactMap { others[$0] }
      }
    }
  }
}
