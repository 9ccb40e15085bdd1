package import EntityModel
import SystemSupport

extension EntityLayout {
  /// Returns a row with the values of a typed entity written over it.
  ///
  /// - Parameter values: The values of the type's attributes, in the order in which the type lists
  ///   them.
  /// - Parameter links: The targets of its relationships, likewise. Relationships that are not
  ///   stored in an attribute are no part of the row.
  package func row(
    _ values: [Value], _ links: [ObjectID?], of type: any Entity.Type, over row: consuming [Value]
  ) throws(StoreError) -> [Value] {
    let positions = try positions(of: type)
    for (number, position) in positions.attributes.enumerated() { row[position] = values[number] }
    for (number, position) in positions.links.enumerated() {
      guard let position else { continue }
      row[position] = try reference(links[number], at: position)
    }
    return row
  }

  func positions(of type: any Entity.Type) throws(StoreError) -> TypePositions {
    if let known = typePositions.withLock({ $0[ObjectIdentifier(type)] }) { return known }
    var found = TypePositions()
    for name in type.attributeNames { found.attributes.append(try position(of: name)) }
    for name in type.relationshipNames {
      guard case .attribute(let position, _) = try requiredRelationship(named: name).access else {
        found.links.append(nil)
        continue
      }
      found.links.append(position)
    }
    let positions = found
    typePositions.withLock { $0[ObjectIdentifier(type)] = positions }
    return positions
  }
}
