import EntityModel
import TextFormats

/// A path of names resolved along relationships.
package struct BoundPath {
  /// The relationships along the path, except one at the end.
  var hops: [Hop] = []
  package var end: End
  /// The entity that the end belongs to.
  var entity: EntityLayout

  package enum End {
    case attribute(Int)
    case relationship(Hop)
  }

  /// The maximum number of relationships in a path.
  static let hopsMax = 16

  /// Resolves a path.
  ///
  /// - Throws: `unknownAttribute` that lists the existing names; `invalidRequest`.
  package init(_ path: String, of entity: EntityLayout, in transaction: ReadTransaction) throws {
    let names =
      path.utf8.contains(UInt8(ascii: "."))
      ? path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) : [path]
    guard names.count <= BoundPath.hopsMax else {
      throw StoreError(.invalidRequest, "a path is too long", [("path", path)])
    }
    var current = entity
    var hops: [Hop] = []
    for name in names.dropLast() {
      guard let relationship = current.visibleRelationship(named: name) else {
        throw BoundPath.noRelationship(name, of: current, path)
      }
      let destination = try transaction.destination(of: relationship)
      hops.append(Hop(relationship: relationship, destination: destination))
      current = destination
    }
    let last = names[names.count - 1]
    self.hops = hops
    self.entity = current
    if let relationship = current.visibleRelationship(named: last) {
      end = .relationship(
        Hop(
          relationship: relationship, destination: try transaction.destination(of: relationship)))
    } else {
      end = .attribute(try current.visiblePosition(of: last))
    }
  }

  /// The hops with the relationship at the end, if there is one.
  package var allHops: [Hop] {
    if case .relationship(let hop) = end { hops + [hop] } else { hops }
  }

  /// True if the path leads to several values.
  var isToMany: Bool { allHops.contains { $0.relationship.isToMany } || listPosition != nil }

  /// The position of the attribute at the end, if it is a list.
  var listPosition: Int? {
    guard case .attribute(let position) = end,
      entity.description.attributes[position].type.kind == .strings
    else { return nil }
    return position
  }

  private static func noRelationship(
    _ name: String, of entity: EntityLayout, _ path: String
  ) -> StoreError {
    let names = entity.description.relationships.filter { !$0.isHidden }.map(\.name)
    return StoreError(
      .unknownAttribute, "a path continues after a name that is not a relationship",
      [("entity", entity.name), ("path", path), ("name", name)],
      advice: names.isEmpty
        ? "the entity has no relationships"
        : NearestName.advice(
          on: name, among: names,
          otherwise: "its relationships are " + names.joined(separator: ", ")))
  }
}

extension EntityLayout {
  /// Returns the position of a visible attribute. Attributes that hold the links of relationships
  /// are not allowed in a request, because the storage of links may change.
  fileprivate func visiblePosition(of name: String) throws(StoreError) -> Int {
    let position = try position(of: name)
    if description.attributes[position].isHidden {
      throw .unknownAttribute(name, in: description)
    }
    return position
  }

  fileprivate func visibleRelationship(named name: String) -> RelationshipLayout? {
    relationship(named: name).flatMap { $0.description.isHidden ? nil : $0 }
  }
}
