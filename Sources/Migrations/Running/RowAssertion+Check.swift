import EntityModel
import EntityStore

extension RowAssertion {
  /// Checks the number of records that match.
  ///
  /// - Throws: `validation` if another number of records matches.
  func check(in transaction: ReadTransaction) throws {
    let found = try transaction.count(FetchRequest(entityName: entity, predicate: predicate))
    if count.contains(found) { return }
    var context = [("entity", entity)]
    if let predicate { context.append(("where", "\(predicate)")) }
    context += [("expected", expectation), ("found", String(found))]
    if let message { context.append(("why", message)) }
    throw StoreError(
      .validation, "a precondition of a migration does not hold", context,
      advice: "see to the records, then run `mooring migrate up` again")
  }

  /// The expected count as text: `3`, `at least 1`, `at most 5`.
  var expectation: String {
    if count.lowerBound == count.upperBound { return String(count.lowerBound) }
    if count.lowerBound == 0 { return "at most \(count.upperBound)" }
    return count.upperBound == .max
      ? "at least \(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
  }
}
