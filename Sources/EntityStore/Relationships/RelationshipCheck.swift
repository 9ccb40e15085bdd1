import EntityModel
import LMDB

extension ReadTransaction {
  /// Returns the number of problems of all links of the store, and the first ones in words.
  ///
  /// - Complexity: O(*n* · log *n*) for *n* records of entities with references.
  package func linkProblems(limit: Int) throws -> (count: Int, first: [String]) {
    var (count, first) = (0, [String]())
    for name in catalog.entities.keys.sorted() {
      let entity = try catalog.entity(name)
      if entity.references.isEmpty, entity.relationships.isEmpty { continue }
      _ = try scanRecords(of: entity, after: .min) { id, view in
        for text in try linkProblems(of: view, id: id, in: entity) {
          count += 1
          if count <= limit { first.append("\(ObjectID(entity: name, number: id)): \(text)") }
        }
        return true
      }
    }
    return (count, first)
  }

  /// Returns the problems of a record's links, one text each. That a link can be found from both
  /// sides is checked with the indexes, which the other side uses to read it.
  package func linkProblems(of view: RecordView, id: Int64, in entity: EntityLayout) throws
    -> [String]
  {
    var texts: [String] = []
    for reference in entity.references {
      let field = view.field(reference.position)
      if field.isNull { continue }
      let name = entity.description.attributes[reference.position].name
      let destination = try catalog.entity(reference.destination)
      if !reference.mayDangle, try !exists(field.int64, in: destination) {
        texts.append("\(name) leads to no record")
      }
      if let order = reference.order, view.field(order.position).isNull {
        texts.append("\(name) has no place in its order")
      }
    }
    for relationship in entity.relationships {
      guard case .links(let index, _, .some) = relationship.access else { continue }
      texts += try symmetryProblems(of: relationship, index, view, id)
    }
    return texts
  }

  /// Returns the problems of a relationship that is its own inverse. No index shows that a link is
  /// stored in both directions, or that a to-one relationship has two links.
  private func symmetryProblems(
    of relationship: RelationshipLayout, _ index: IndexLayout, _ view: RecordView, _ id: Int64
  ) throws -> [String] {
    var texts: [String] = []
    try LinkKey.withPrefix(id) { prefix in
      try eachEntry(of: index, prefix) { entry in
        if let other = LinkKey.last(of: index, entry.key), other < id {
          texts.append("a link of \(relationship.name) is stored the wrong way round")
        }
        return true
      }
    }
    var count = 0
    try eachLinked(relationship, from: view, id: id) { _ in
      count += 1
      return true
    }
    if !relationship.isToMany, count > 1 {
      texts.append("\(relationship.name) leads to \(count) records")
    }
    return texts
  }
}
