package import EntityModel
package import EntityStore

/// Returns every record of every entity, in order, as text.
package func dump(_ store: Store) throws -> [String] {
  try store.read { transaction in
    try transaction.schema.entities.map(\.name).sorted().flatMap { name in
      try transaction.fetch(FetchRequest(entityName: name)).map { record in
        record.id.description + " "
          + record.fields.map { "\($0.name)=\($0.value.text)" }.joined(separator: " ")
      }
    }
  }
}

extension ReadTransaction {
  /// Returns an attribute of a record; `nil` if there is no such record.
  package func value(_ attribute: String, of id: ObjectID) throws -> Value? {
    guard let record = try get(id) else { return nil }
    return try record[attribute]
  }
}
