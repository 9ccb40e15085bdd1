public import EntityModel
public import Foundation

/// One sort key of a typed fetch: a property, its direction and its collation.
///
/// Null comes first in forward order and last in reverse order. Texts are in the order of their
/// UTF-8 bytes unless a collation is given: Foundation's descriptors for Linux have no other order,
/// and their default on other systems differs, so the order for a list that people read has to be
/// given explicitly.
///
/// ```swift
/// FetchDescriptor<Episode>(sortBy: [
///   .init(\.title, collation: .localizedStandard), .init(\.updatedAt, order: .reverse),
/// ])
/// ```
public struct SortBy<T: Entity>: Sendable {
  /// The attribute path of the key path, or the error if there is none; the fetch throws it.
  private let path: Result<String, StoreError>
  public var collation: Collation
  public var order: SortOrder
}

extension SortBy {
  public init<V>(
    _ keyPath: KeyPath<T, V>, collation: Collation = .binary, order: SortOrder = .forward
  ) {
    self.init(path: T.sortPath(keyPath), collation: collation, order: order)
  }

  /// Creates a sort key from a property of the record that a to-one relationship leads to; records
  /// without a link sort like null.
  public init<D: Entity, V>(
    _ relationship: KeyPath<T, ToOne<D>?>, _ keyPath: KeyPath<D, V>,
    collation: Collation = .binary, order: SortOrder = .forward
  ) {
    self.init(relationship, SortBy<D>(keyPath, collation: collation, order: order))
  }

  /// Creates a sort key from one of the record that a to-one relationship leads to, so that a key
  /// can lead through several relationships.
  public init<D: Entity>(_ relationship: KeyPath<T, ToOne<D>?>, _ key: SortBy<D>) {
    let path = Result<String, StoreError> { () throws(StoreError) in
      "\(try T.sortPath(relationship).get()).\(try key.path.get())"
    }
    self.init(path: path, collation: key.collation, order: key.order)
  }

  /// Converts Foundation's descriptor, without its comparator for texts.
  public init(_ descriptor: SortDescriptor<T>) {
    self.init(path: T.sortPath(descriptor.keyPath), collation: .binary, order: descriptor.order)
  }

  /// Converts Foundation's comparator.
  public init(_ comparator: KeyPathComparator<T>) {
    self.init(path: T.sortPath(comparator.keyPath), collation: .binary, order: comparator.order)
  }

  /// The same key in the opposite direction.
  public var reversed: SortBy {
    SortBy(path: path, collation: collation, order: order == .forward ? .reverse : .forward)
  }

  /// Returns the sort key by name.
  ///
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
          advice: "create it from a key path")
      }
      return try propertyName(of: keyPath)
    }
  }
}

/// A sort key of Foundation that `FetchDescriptor` accepts: `SortDescriptor` or
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
