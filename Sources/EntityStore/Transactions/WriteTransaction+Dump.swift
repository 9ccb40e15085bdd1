package import EntityModel

extension WriteTransaction {
  /// Inserts a record as another store has it: under its id, with its references and the places of
  /// its links. References may lead to records that are inserted later: when all are, the caller
  /// looks for others (`linkProblems(limit:)`).
  ///
  /// - Throws: `uniqueViolation` if the id is taken, `validation` if it is out of range; else as
  ///   `insert`.
  package func insert(_ id: ObjectID, _ values: [String: Value]) throws {
    let layout = try catalog.entity(id.entity)
    guard id.number > 0, id.number < .max else {
      throw StoreError(
        .validation, "the number of a record is out of range", [("record", id.description)])
    }
    guard try !exists(id.number, in: layout) else {
      throw StoreError(
        .uniqueViolation, "there is a record with this number", [("record", id.description)],
        advice: "insert a dump into a store without records")
    }
    var row = layout.newRow()
    for (name, value) in values { row[try layout.position(of: name)] = value }
    let next = try nextID(of: layout)
    try put(row, id: id.number, old: nil, in: layout)
    try changes(of: layout).nextID = max(next, id.number + 1)
  }
}
