public import EntityModel
public import EntityStore

/// A value together with the identity of the record that holds it.
public struct Identified<T: Entity>: Identifiable, Sendable {
  public let id: ObjectID
  public var value: T

  public init(_ id: ObjectID, _ value: T) {
    self.id = id
    self.value = value
  }
}

extension Identified: Equatable where T: Equatable {}
extension Identified: Hashable where T: Hashable {}
