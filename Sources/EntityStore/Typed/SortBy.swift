public import EntityModel
public import Foundation

/// One sort key of a typed fetch: a property, its direction and its collation.
///
/// Null comes first forward and last in reverse. Texts are in the order of their UTF-8 bytes
/// unless a collation says otherwise: Foundation's descriptors for Linux have no other order, and
/// what is the default elsewhere differs, so that an order for people is always written out.
///
/// ```swift
/// FetchDescriptor<Episode>(sortBy: [
///   .init(\.title, collation: .localizedStandard), .init(\.updatedAt, order: .reverse),
/// ])
/// ```
public struct SortBy<T: Entity>: Sendable {
  /// What the key path names, or why it names nothing; the fetch throws that.
  private let path: Result<String, StoreError>
  public var collation: Collation
  public var order: SortOrder

  public init<V>(
    _ keyPath: KeyPath<T, V>, collation: Collation = .binary, order: SortOrder = .forward
  ) {
    self.init(path: T.sortPath(keyPath), collation: collation, order: order)
  }

  /// By a property of the record that a to-one relationship leads to; records without one come
  /// where null does.
  public init<D: Entity, V>(
    _ relationship: KeyPath<T, ToOne<D>?>, _ keyPath: KeyPath<D, V>,
    collation: Collation = .binary, order: SortOrder = .forward
  ) {
    self.init(relationship, SortBy<D>(keyPath, collation: collation, order: order))
  }

  /// By what the record that a to-one relationship leads to is sorted by: so that a key can go
  /// through several relationships.
  public init<D: Entity>(_ relationship: KeyPath<T, ToOne<D>?>, _ key: SortBy<D>) {
    let path = Result<String, StoreError> { () throws(StoreError) in
      "\(try T.sortPath(relationship).get()).\(try key.path.get())"
    }
    self.init(path: path, collation: key.collation, order: key.order)
  }

  /// Takes over Foundation's descriptor. Its comparator for texts is not taken over.
  public init(_ descriptor: SortDescriptor<T>) {
    self.init(path: T.sortPath(descriptor.keyPath), collation: .binary, order: descriptor.order)
  }

  /// Takes over Foundation's comparator.
  public init(_ comparator: KeyPathComparator<T>) {
    self.init(path: T.sortPath(comparator.keyPath), collation: .binary, order: comparator.order)
  }

  private init(path: Result<String, StoreError>, collation: Collation, order: SortOrder) {
    self.path = path
    self.collation = collation
    self.order = order
  }

  /// The same key the other way round.
  public var reversed: SortBy {
    SortBy(path: path, collation: collation, order: order == .forward ? .reverse : .forward)
  }

  /// - Throws: `invalidRequest` if the key path names no attribute.
  @usableFromInline
  func key() throws(StoreError) -> SortKey {
    SortKey(try path.get(), descending: order == .reverse, collation: collation)
  }
}

extension Entity {
  fileprivate static func sortPath(_ keyPath: PartialKeyPath<Self>?) -> Result<String, StoreError> {
    Result { () throws(StoreError) in
      guard let keyPath else {
        throw StoreError(
          .invalidRequest, "a sort descriptor has no key path", [("entity", entityName)],
          advice: "make it of a key path")
      }
      return try propertyName(of: keyPath)
    }
  }
}

/// What `FetchDescriptor` takes as a sort key beside its own: Foundation's `SortDescriptor` and
/// `KeyPathComparator`.
public protocol SortKeyConvertible<Compared> {
  associatedtype Compared: Entity
  func sortBy() -> SortBy<Compared>
}

extension SortDescriptor: SortKeyConvertible where Compared: Entity {
  public func sortBy() -> SortBy<Compared> { SortBy(self) }
}

extension KeyPathComparator: SortKeyConvertible where Compared: Entity {
  public func sortBy() -> SortBy<Compared> { SortBy(self) }
}
