import EntityModel
public import EntityStore

/// The result of an integrity check.
public struct IntegrityReport: Codable, Sendable {
  /// One contradiction, and where it is.
  public struct Problem: Codable, Hashable, Sendable, CustomStringConvertible {
    public var entity: String
    public var id: Int64?
    public var index: String?
    public var text: String

    public var description: String {
      let place = [entity, id.map(String.init), index].compactMap { $0 }.joined(separator: " ")
      return "\(place): \(text)"
    }
  }

  public var entities = 0
  public var records = 0
  public var entries = 0
  /// The number of checked transactions of the change history.
  public var historyTransactions = 0
  /// The first problems, at most `StoreLimits.problemsListedMax`.
  public var problems: [Problem] = []
  public var problemCount = 0

  public var isClean: Bool { problemCount == 0 }

  fileprivate mutating func add(
    _ text: String, entity: String, id: Int64? = nil, index: String? = nil
  ) {
    problemCount += 1
    if problems.count < StoreLimits.problemsListedMax {
      problems.append(Problem(entity: entity, id: id, index: index, text: text))
    }
  }
}

extension Store {
  /// Compares all records with the indexes and all index entries with the records, on one snapshot.
  ///
  /// Every record must match its seal and be decodable, must have no null in a required attribute,
  /// and must have each of the index entries that follow from it. Every entry must lead to a record
  /// that has this entry. Every reference must lead to a record, unless its delete rule allows it
  /// to remain without one. Ids must be below the entity's counter. The entries of an index with
  /// another version of its collation must lead to records; their keys are not checked. Memory is
  /// bounded; damage is reported and the check continues.
  ///
  /// - Complexity: O(*e* · log *n*) for *e* index entries.
  public func checkIntegrity() throws -> IntegrityReport {
    try read { transaction in
      var check = IntegrityCheck(transaction: transaction, store: self)
      try check.run()
      return check.report
    }
  }
}

struct IntegrityCheck {
  let transaction: ReadTransaction
  let store: Store
  private(set) var report = IntegrityReport()
  private let key = KeyBox()

  mutating func run() throws {
    for name in transaction.catalog.entities.keys.sorted() {
      let entity = try transaction.catalog.entity(name)
      report.entities += 1
      try checkRecords(of: entity)
      for index in entity.indexes { try checkEntries(of: index, entity) }
    }
    try checkHistory()
  }

  /// Checks that every transaction of the history can be read, and that the numbers of transactions
  /// and of their parts have no gaps.
  private mutating func checkHistory() throws {
    guard let tree = transaction.historyTree else { return }
    for problem in try tree.problems(in: transaction.catalog.schema, &report.historyTransactions) {
      report.add(problem.text, entity: HistoryTree.name, id: problem.sequence)
    }
  }

  /// Checks that no index entry of a record is missing.
  private mutating func checkRecords(of entity: EntityLayout) throws {
    let nextID = try store.nextID(of: entity, in: transaction)
    try transaction.scanRows(of: entity) { id, bytes in
      report.records += 1
      if let id {
        try check(bytes, id: id, entity)
        if id < 1 || id >= nextID {
          report.add("the record's id is not below the counter", entity: entity.name, id: id)
        }
      } else {
        report.add("a record has an unreadable key", entity: entity.name)
      }
    }
  }

  private mutating func check(
    _ bytes: UnsafeRawBufferPointer, id: Int64, _ entity: EntityLayout
  ) throws {
    guard let view = entity.record.view(of: bytes), let values = try? view.values() else {
      report.add("the record is unreadable", entity: entity.name, id: id)
      return
    }
    if let flaw = entity.record.sealFlaw(of: bytes, id: id) {
      report.add("\(flaw)", entity: entity.name, id: id)
    }
    for (attribute, value) in zip(entity.description.attributes, values)
    where value.isNull && !attribute.isOptional {
      report.add("\(attribute.name) is required and null", entity: entity.name, id: id)
    }
    for text in try transaction.linkProblems(of: view, id: id, in: entity) {
      report.add(text, entity: entity.name, id: id)
    }
    for index in entity.indexes where index.isUsable {
      var missing = 0
      try index.eachKey(of: view, id: id, writer: &key.writer) { bytes in
        if try transaction.recordID(at: bytes, of: index) != id { missing += 1 }
      }
      if missing > 0 {
        report.add(
          "an index entry is missing", entity: entity.name, id: id, index: index.description.name)
      }
    }
  }

  /// Checks that no index entry is without its record.
  private mutating func checkEntries(of index: IndexLayout, _ entity: EntityLayout) throws {
    try transaction.scanEntries(of: index) { key, id in
      report.entries += 1
      if let text = try problem(withEntry: key, of: id, index, entity) {
        report.add(text, entity: entity.name, id: id, index: index.description.name)
      }
    }
  }

  private mutating func problem(
    withEntry entryKey: UnsafeRawBufferPointer, of id: Int64?, _ index: IndexLayout,
    _ entity: EntityLayout
  ) throws -> String? {
    guard let id else { return "an index entry is unreadable" }
    guard let bytes = try transaction.rowBytes(id, of: entity) else {
      return "an index entry leads to no record"
    }
    // Keys of another version of a collation cannot be computed here.
    guard index.isUsable, let view = entity.record.view(of: bytes) else { return nil }
    var isFound = false
    do {
      try index.eachKey(of: view, id: id, writer: &key.writer) { bytes in
        if compare(bytes, entryKey) == 0 { isFound = true }
      }
    } catch is RecordDamage {
      return nil  // reported with the record
    }
    return isFound ? nil : "an index entry does not follow from its record"
  }
}

/// A class that holds a key writer, so that closures over the check need not capture it inout.
private final class KeyBox {
  var writer = KeyWriter()
}
