import EntityModel
import Foundation
import LMDB
import SystemSupport

/// The estimated costs of the plans for a request, in index entries read.
///
/// The estimates come from entry counts, a sample of the records, and a short read of the ranges;
/// they decide between plans that all give the same result.
struct PlanCosts {
  private let request: BoundRequest
  private let transaction: ReadTransaction
  private let sample: EntitySample
  private let recordCount: Double
  /// The fraction of all records for which the predicate is true.
  private let matching: Double

  // Relative to one entry of an index that is read in its order.
  private static let recordByIdentity = 4.0
  private static let recordInOrder = 1.5
  private static let seek = 3.0
  private static let sortStep = 0.6

  /// The maximum number of entries that are counted one by one before the sample is used.
  private static let lookMax = 64
  private static let rangesLookedAtMax = 8

  init(_ request: BoundRequest, in transaction: ReadTransaction) throws {
    self.request = request
    self.transaction = transaction
    let sample = try request.entity.sample(in: transaction)
    self.sample = sample
    recordCount = Double(try transaction.transaction.count(request.entity.tree))
    // Predicates that take long on one record are not evaluated for an estimate.
    let quick = request.conjuncts.map(\.program).filter { !$0.isCostly }
    matching = sample.fraction(of: request.entity) { row in
      for program in quick where try !program.matches(row, in: transaction) { return false }
      return true
    }
  }

  /// Returns the cost of reading all records.
  func scan() -> Double {
    let matches = max(1, recordCount * matching)
    let read = request.needsSort ? recordCount : rows(of: recordCount, among: matches)
    return read * PlanCosts.recordInOrder + (request.needsSort ? sorting(matches) : 0)
  }

  func cost(of candidate: IndexCandidate) throws -> Double {
    let entries = try entries(of: candidate)
    let matches = max(1, min(entries, recordCount * matching))
    let isStreamed = candidate.servesOrder || !request.isOrdered
    let read = isStreamed ? rows(of: entries, among: matches) : entries
    let perEntry = candidate.isIndexOnly ? 1 : 1 + PlanCosts.recordByIdentity
    return read * perEntry + Double(candidate.access.ranges.count) * PlanCosts.seek
      + (isStreamed ? 0 : sorting(matches))
  }

  /// Returns how many of `count` rows are read before the window is full.
  private func rows(of count: Double, among matches: Double) -> Double {
    guard request.windowEnd < .max else { return count }
    return min(count, Double(request.windowEnd) * count / matches)
  }

  private func sorting(_ rows: Double) -> Double {
    rows * max(1, log2(rows + 1)) * PlanCosts.sortStep
  }

  // MARK: Entries

  private func entries(of candidate: IndexCandidate) throws -> Double {
    let total = Double(try transaction.transaction.count(candidate.index.tree))
    if candidate.usedParts == 0 { return total }
    if let counted = try look(candidate) { return counted }
    let entity = request.entity
    let fraction = sample.fraction(of: entity) { row in
      for (part, set) in zip(candidate.index.parts, candidate.sets) {
        guard try part.holds(row, set) else { return false }
      }
      return true
    }
    return max(Double(PlanCosts.lookMax), total * fraction)
  }

  /// Counts the entries if there are few; returns `nil` if there are many.
  private func look(_ candidate: IndexCandidate) throws -> Double? {
    let ranges = candidate.access.ranges
    guard ranges.count <= PlanCosts.rangesLookedAtMax else { return nil }
    var count = 0
    var cursor = try transaction.transaction.cursor(candidate.index.tree)
    for range in ranges {
      var entry = try range.lower.withUnsafeBytes { try cursor.seek(atLeast: $0) }
      while let found = entry, range.isBelowUpper(found.key) {
        count += 1
        if count > PlanCosts.lookMax { return nil }
        entry = try cursor.next()
      }
    }
    return Double(count)
  }

  /// Returns true if the sample has few values of the index's first part.
  func hasFewLeadingValues(_ index: IndexLayout) -> Bool {
    let part = index.parts[0]
    var values: Set<Value> = []
    _ = sample.fraction(of: request.entity) { row in
      values.insert(try row.value(part.position))
      return true
    }
    return !sample.records.isEmpty && values.count <= max(1, sample.records.count / 8)
      && values.count <= LeadingValues.countMax / 2
  }

  // MARK: Texts

  static func words(_ cost: Double, over other: Double) -> String {
    "as costly as \(rounded(cost)) entries; what was taken, as \(rounded(other))"
  }

  /// Rounds to two digits: the estimates are not more precise.
  private static func rounded(_ cost: Double) -> Int {
    guard cost < 1e15 else { return .max }
    if cost < 100 { return Int(cost.rounded()) }
    let unit = pow(10, floor(log10(cost)) - 1)
    return Int((cost / unit).rounded() * unit)
  }
}

extension IndexLayout.Part {
  /// Returns true if a record's value, or one of its elements, is in the set.
  fileprivate func holds(_ row: FetchRow, _ set: IntervalSet) throws -> Bool {
    let value = try row.value(position)
    if case .strings(let elements) = value {
      return elements.contains { set.contains(KeyComponent.bytes(of: .string($0))) }
    }
    if kind == .strings { return false }
    guard let collation, !value.isNull else { return set.contains(KeyComponent.bytes(of: value)) }
    return set.contains(value.withBytes { collation.component(Array($0)) })
  }
}
