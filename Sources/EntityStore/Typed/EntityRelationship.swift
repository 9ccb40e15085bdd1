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

  public init<T: Entity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, ToOne<T>?> & Sendable
  ) {
    self.init(name, keyPath, T.self, isOptional: true) {
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
    self.init(name, keyPath, T.self) {
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
    self.init(name, keyPath, T.self, isToMany: true) { _ in
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

  private init(
    _ name: String, _ keyPath: any PartialKeyPath<Root> & Sendable,
    _ destination: any Entity.Type, isToMany: Bool = false, isOptional: Bool = false,
    link: @escaping @Sendable (Root) -> ObjectID?,
    prefetch: @escaping @Sendable (inout [Root], ReadTransaction) throws -> Void
  ) {
    self.name = name
    self.keyPath = keyPath
    self.destination = destination
    self.isToMany = isToMany
    self.isOptional = isOptional
    self.link = link
    self.prefetch = prefetch
  }
}
