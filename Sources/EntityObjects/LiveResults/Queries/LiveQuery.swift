import EntityModel
import EntityStore
import SystemSupport

/// The subject of an observation: a request, the conversion of its records into values, and the
/// path of its sections.
struct LiveRequest<T: Sendable>: Sendable {
  let source: RecordSource<T>
  let sectionPath: String?
}

/// The results for one observer: the version that it has received last, and the computation of the
/// next one.
///
/// The next version is computed from the change history: each changed record is read once and put
/// into its place, in O(log *n*) each, whatever the number of results. Where the history is not
/// sufficient, all rows are fetched again and compared (`ResultsUpdate.Origin` gives the reason).
///
/// With a limit, some rows after the window are kept in memory, so that a row that leaves the
/// window seldom requires reading from the index.
final class LiveQuery<T: Sendable>: LiveObserver {
  private struct State: Sendable {
    var revision: UInt64
    var sequence: Int64
    var rows: OrderedRows<LiveRow<T>>
    var keys: [Int64: RowKey]
    /// The key up to which the rows are complete; `nil` if they are all rows that match.
    var boundary: RowKey?
    var snapshot: ResultsSnapshot<T>
  }

  private let request: LiveRequest<T>
  private let state = Locked<State?>(nil)

  init(_ request: LiveRequest<T>) { self.request = request }

  /// Returns the next version; `nil` if it equals the previous one.
  func advance(in transaction: ReadTransaction) throws -> ResultsUpdate<T>? {
    let reading = try LiveReading(request, in: transaction)
    return try state.withLock { state in
      guard var known = state else {
        let (first, update) = try begin(reading, transaction)
        state = first
        return update
      }
      // The rows must not be shared while they are changed: they would be copied.
      state = nil
      let update = try advance(&known, reading, transaction)
      state = known
      return update
    }
  }

  // MARK: The first version

  private func begin(
    _ reading: LiveReading<T>, _ transaction: ReadTransaction
  ) throws -> (State, ResultsUpdate<T>) {
    let (rows, boundary) = try fetch(reading)
    let ordered = OrderedRows(ascending: rows)
    let snapshot = ResultsSnapshot(
      WindowedRows(
        rows: ordered, window: reading.window, isSectioned: request.sectionPath != nil))
    let state = State(
      revision: transaction.catalog.revision, sequence: try transaction.historySequence(),
      rows: ordered, keys: LiveQuery.keys(of: rows), boundary: boundary, snapshot: snapshot)
    return (
      state,
      ResultsUpdate(
        snapshot: snapshot, changes: ResultsDifference(sections: [], rows: []), origin: .first)
    )
  }

  /// Returns the rows of the window and some after it, with the key up to which they are complete.
  private func fetch(_ reading: LiveReading<T>) throws -> ([LiveRow<T>], RowKey?) {
    let enough = reading.window.roomyCount
    let rows = try reading.firstRows(enough)
    let areAll = enough.map { rows.count < $0 } ?? true
    return (rows, areAll ? nil : rows.last?.key)
  }

  private static func keys(of rows: [LiveRow<T>]) -> [Int64: RowKey] {
    Dictionary(rows.map { ($0.key.id, $0.key) }) { first, _ in first }
  }

  // MARK: The next version

  private func advance(
    _ state: inout State, _ reading: LiveReading<T>, _ transaction: ReadTransaction
  ) throws -> ResultsUpdate<T>? {
    let sequence = state.sequence
    state.sequence = try transaction.historySequence()
    if state.revision != transaction.catalog.revision {
      state.revision = transaction.catalog.revision
      return try refetch(&state, reading, .schemaChanged)
    }
    if !reading.dependencies.unrecorded.isEmpty {
      return try refetch(&state, reading, .noHistory)
    }
    let changes = try CommittedChanges(
      after: sequence, for: reading.dependencies, in: transaction)
    if changes.isUnknown { return try refetch(&state, reading, .historyIncomplete) }
    if changes.touchesOthers { return try refetch(&state, reading, .relationship) }
    if changes.areMany { return try refetch(&state, reading, .manyChanges) }
    if changes.records.isEmpty { return nil }
    return try apply(changes.records, to: &state, reading)
  }

  private func refetch(
    _ state: inout State, _ reading: LiveReading<T>, _ reason: ResultsUpdate<T>.Reason
  ) throws -> ResultsUpdate<T>? {
    let (rows, boundary) = try fetch(reading)
    state.rows = OrderedRows(ascending: rows)
    state.keys = LiveQuery.keys(of: rows)
    state.boundary = boundary
    let (snapshot, changes) = state.snapshot.refetched(as: state.rows, window: reading.window)
    return update(&state, snapshot, changes, .fetched(reason))
  }

  private func apply(
    _ records: Set<Int64>, to state: inout State, _ reading: LiveReading<T>
  ) throws -> ResultsUpdate<T>? {
    var transitions: [Int64: RowTransition<RowKey>] = [:]
    for id in records {
      let old = state.keys[id].flatMap { state.rows.remove($0) }
      var new = try reading.row(id)
      if let row = new, let boundary = state.boundary, row.key > boundary { new = nil }
      if let new { state.rows.insert(new) }
      state.keys[id] = new?.key
      let changesContent = old?.contentHash != new?.contentHash
      if changesContent || old?.key != new?.key {
        transitions[id] = RowTransition(
          from: old?.key, to: new?.key, changesContent: changesContent)
      }
    }
    if state.boundary != nil, state.rows.count < reading.window.neededCount {
      return try refetch(&state, reading, .windowEmptied)
    }
    trim(&state, reading.window, &transitions)
    if transitions.isEmpty { return nil }
    let (snapshot, changes) = state.snapshot.advanced(
      to: state.rows, window: reading.window, by: Array(transitions.values))
    return update(&state, snapshot, changes, .changes)
  }

  /// Drops rows that are far after the window.
  private func trim(
    _ state: inout State, _ window: ResultsWindow,
    _ transitions: inout [Int64: RowTransition<RowKey>]
  ) {
    guard let enough = window.roomyCount, state.rows.count >= 2 * enough else { return }
    while state.rows.count > enough {
      let key = state.rows[state.rows.count - 1].key
      state.rows.remove(key)
      state.keys[key.id] = nil
      let old = if let known = transitions[key.id] { known.from } else { key }
      transitions[key.id] = old.map { RowTransition(from: $0, to: nil) }
    }
    state.boundary = state.rows[state.rows.count - 1].key
  }

  private func update(
    _ state: inout State, _ snapshot: ResultsSnapshot<T>, _ changes: ResultsDifference<T>,
    _ origin: ResultsUpdate<T>.Origin
  ) -> ResultsUpdate<T>? {
    state.snapshot = snapshot
    if changes.isEmpty { return nil }
    return ResultsUpdate(snapshot: snapshot, changes: changes, origin: origin)
  }
}

extension ResultsWindow {
  /// The number of rows up to the end of the window; `nil` without a limit.
  fileprivate var neededCount: Int {
    guard let limit else { return 0 }
    let (end, overflows) = offset.addingReportingOverflow(limit)
    return overflows ? .max : end
  }

  /// The number of rows to hold in memory: those of the window and as many again after it, so that
  /// the index is read at most once for as many lost rows as the window has.
  fileprivate var roomyCount: Int? {
    guard let limit else { return nil }
    let (count, overflows) = neededCount.addingReportingOverflow(
      min(max(limit, Limits.rowsAfterLimitMin), Limits.rowsAfterLimitMax))
    return overflows ? nil : count
  }
}

extension ReadTransaction {
  /// Returns the number of the newest transaction in the change history.
  func historySequence() throws -> Int64 { try historyTree?.last() ?? 0 }
}
