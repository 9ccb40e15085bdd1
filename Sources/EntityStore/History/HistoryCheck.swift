package import EntityModel
import LMDB

extension HistoryTree {
  package struct Problem {
    /// The sequence number of the transaction.
    package let sequence: Int64?
    package let text: String
  }

  /// Reads the whole history and checks that no transaction and no part of one is missing, and that
  /// each can be read.
  ///
  /// - Parameter transactions: Incremented for each transaction.
  /// - Returns: At most as many problems as a report lists.
  package func problems(in schema: Schema, _ transactions: inout Int) throws -> [Problem] {
    var verified = self
    verified.verifiedSince = schema.sealedHistorySince
    return try verified.unreadable(in: schema, &transactions)
  }

  private func unreadable(in schema: Schema, _ transactions: inout Int) throws -> [Problem] {
    var problems: [Problem] = []
    var previous: HistoryKey?
    var cursor = try transaction.cursor(tree)
    var entry = try cursor.first()
    while let found = entry, problems.count < StoreLimits.problemsListedMax {
      entry = try cursor.next()
      guard let key = HistoryKey(found.key) else {
        problems.append(Problem(sequence: nil, text: "a key is unreadable"))
        continue
      }
      if key.part == 0 { transactions += 1 }
      if !key.follows(previous) {
        problems.append(Problem(sequence: key.sequence, text: "what comes before it is missing"))
      }
      previous = key
      if let text = try problem(with: found, key, schema) {
        problems.append(Problem(sequence: key.sequence, text: text))
      }
    }
    return problems
  }

  private func problem(
    with entry: Cursor.Entry, _ key: HistoryKey, _ schema: Schema
  ) throws -> String? {
    do {
      try forEachChange(of: entry, key) { change in
        guard (1..<schema.nextEntityID).contains(change.entityID) else { throw RecordDamage() }
        for value in change.values { _ = try RecordField.value(value.bytes, value.kind) }
      }
      return hasValidSeal(entry, key) ? nil : "it does not match its seal"
    } catch let error as StoreError where error.code == .damaged {
      return "it is unreadable"
    } catch is RecordDamage {
      return "it says what cannot be"
    }
  }
}
