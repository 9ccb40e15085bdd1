import EntityModel

/// The columns of a grouped request before its own expressions are applied: the group keys, then
/// each distinct aggregate.
package struct GroupColumns {
  let entity: String
  /// The group keys as paths, the aggregates as they are written.
  private(set) var expressions: [FetchExpression] = []
  private(set) var kinds: [ExpressionKind] = []
  private(set) var attributes: [AttributeDescription?] = []
  private var positions: [FetchExpression: Int] = [:]

  init(entity: String) { self.entity = entity }

  mutating func add(_ expression: FetchExpression, _ bound: BoundExpression) {
    if positions[expression] != nil { return }
    positions[expression] = expressions.count
    expressions.append(expression)
    kinds.append(bound.kind)
    attributes.append(bound.attribute)
  }

  func contains(_ expression: FetchExpression) -> Bool { positions[expression] != nil }

  func column(_ expression: FetchExpression) -> BoundExpression? {
    positions[expression].map {
      BoundExpression(
        program: .attribute($0), kind: kinds[$0], position: $0, attribute: attributes[$0])
    }
  }

  func unknown(_ path: String) -> StoreError {
    let names = expressions.map(\.description).joined(separator: ", ")
    return StoreError(
      .invalidRequest, "a grouped request returns only group keys and aggregates",
      [("entity", entity), ("path", path)],
      advice: "add it to the group keys, or use an aggregate of it; there are \(names)")
  }
}
