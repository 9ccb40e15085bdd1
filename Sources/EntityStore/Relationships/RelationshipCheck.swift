import EntityModel
import LMDB

extension ReadTransaction {
  /// What is wrong with the links of a record. That each is found from both sides follows from the
  /// check of the indexes, through which the other side reads it.
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

  /// Of a relationship that is its own inverse no index sees that a link stands both ways round, or
  /// that a to-one has two.
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
