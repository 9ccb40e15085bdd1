import EntityModel
import EntityStore
import Foundation

/// A row of `_Job` as it is stored, with the changes that are not written yet.
struct JobRecord {
  static let entity = "_Job"

  let id: JobID
  private(set) var row: RowCopy
  /// The state to which it was moved last; `nil` if it was not moved.
  private var movedTo: JobState?

  init(_ row: RowCopy, id: JobID) {
    self.id = id
    self.row = row
  }

  /// - Throws: `StoreError` for a damaged row.
  init(_ row: StoredRow) throws {
    self.init(try row.copy(), id: JobID(rawValue: row.id))
  }

  // MARK: Request

  var kind: JobKind { JobKind(rawValue: string(.kind) ?? "") }
  var queue: QueueName { QueueName(rawValue: string(.queue) ?? "") }
  var lane: String { JobTurn.lane(queue, kind) }
  var payload: Data { data(.payload) ?? Data() }
  var priority: Int64 { int64(.priority) ?? 0 }
  var enqueuedAt: Date { date(.enqueuedAt) ?? .distantPast }
  var timeout: Double? { double(.timeout) }
  var retention: Double { double(.retention) ?? 0 }
  var schedule: Int64? { int64(.schedule) }

  // MARK: State

  func isIn(_ state: JobState) -> Bool { has(state.rawValue, in: .state) }
  /// `nil` for a state that this program does not know.
  var state: JobState? { movedTo ?? string(.state).flatMap(JobState.named) }
  var runAt: Date {
    get { date(.runAt) ?? .distantPast }
    set { set(.runAt, newValue) }
  }
  var startedAt: Date? { date(.startedAt) }
  var finishedAt: Date? { date(.finishedAt) }
  var isCancelled: Bool {
    get { row.bool(JobColumn.isCancelled.rawValue) == true }
    set { set(.isCancelled, .bool(newValue)) }
  }

  // MARK: Attempts

  var attempts: Int64 {
    get { int64(.attempts) ?? 0 }
    set { set(.attempts, newValue) }
  }
  var attemptsMax: Int64 { int64(.attemptsMax) ?? 1 }
  var rescues: Int64 {
    get { int64(.rescues) ?? 0 }
    set { set(.rescues, newValue) }
  }
  /// True if its runners have died more than once. One death may be that of the machine.
  var isSuspect: Bool { rescues > 1 }
  var rescuesMax: Int64 { int64(.rescuesMax) ?? 0 }
  var claims: Int64 {
    get { int64(.claims) ?? 0 }
    set { set(.claims, newValue) }
  }
  var epoch: Int64? {
    get { int64(.epoch) }
    set { set(.epoch, newValue) }
  }
  var claim: Claim? { epoch.map { Claim(job: id, epoch: $0, number: claims) } }

  // MARK: Relations to other jobs

  var uniqueUntil: JobUniqueness? { string(.uniqueUntil).flatMap(JobUniqueness.init) }
  var limitKey: String? { string(.limitKey) }
  var limitMax: Int64 { int64(.limitMax) ?? 1 }
  var group: Int64? { int64(.batch) }

  // MARK: Results

  var checkpoint: Data? { data(.checkpoint) }
  var checkpointClaim: Int64? { int64(.checkpointClaim) }
  var done: Int64? { int64(.done) }
  var total: Int64? { int64(.total) }
  var note: String? { string(.note) }
  var error: String? {
    get { string(.error) }
    set { set(.error, newValue) }
  }
  var output: Data? { data(.output) }

  // MARK: Values

  func int64(_ column: JobColumn) -> Int64? { row.int64(column.rawValue) }

  func double(_ column: JobColumn) -> Double? { row.double(column.rawValue) }

  func date(_ column: JobColumn) -> Date? {
    double(column).map(Date.init(timeIntervalSinceReferenceDate:))
  }

  /// True if the column has this text. Does not create a `String`.
  func has(_ text: String, in column: JobColumn) -> Bool { row.hasText(text, at: column.rawValue) }

  /// True if the column has the text that it has in another job.
  func hasSame(_ column: JobColumn, as other: JobRecord) -> Bool {
    row.hasSameText(as: other.row, at: column.rawValue)
  }

  func string(_ column: JobColumn) -> String? {
    row.isNull(column.rawValue) ? nil : value(column).stringValue
  }

  func data(_ column: JobColumn) -> Data? { value(column).dataValue }

  func value(_ column: JobColumn) -> Value { row.value(column.rawValue) }

  mutating func clear(_ column: JobColumn) {
    // Most of what a transition clears is null.
    if !row.isNull(column.rawValue) { row.setNull(at: column.rawValue) }
  }

  /// Changes the state and what goes with it. Use `move(to:at:)`.
  mutating func set(_ turn: JobTurn) {
    // The values that shrink come first, so that the copy need not grow.
    set(.place, turn.place)
    set(.lane, turn.lane)
    set(.state, turn.state.rawValue)
    set(.at, turn.at)
    set(.rank, turn.rank)
    movedTo = turn.state
  }

  mutating func set(_ column: JobColumn, _ value: Value) { row.set(value, at: column.rawValue) }

  mutating func set(_ column: JobColumn, _ date: Date) { row.set(date, at: column.rawValue) }

  mutating func set(_ column: JobColumn, _ number: Int64?) {
    if let number { row.set(number, at: column.rawValue) } else { clear(column) }
  }

  mutating func set(_ column: JobColumn, _ text: String?) {
    if let text { row.set(text, at: column.rawValue) } else { clear(column) }
  }

  mutating func set(_ column: JobColumn, _ data: Data?) {
    if let data { row.set(data, at: column.rawValue) } else { clear(column) }
  }
}

/// The claim of a job by a runner. Only the holder of the latest claim can finish the job; a finish
/// under an older one changes nothing.
struct Claim: Hashable, Sendable {
  let job: JobID
  /// The epoch of the runner.
  let epoch: Int64
  /// The number of the claim, counted over all claims of the job.
  let number: Int64
}

/// The attribute `uniqueKey` holds one of:
///
///     feed.sync:7       the job has the key, and no other job can have it
///     12/feed.sync:7    job 12 has released the key to run, and takes it again when it waits again
///
/// A kind has no slash, and a number belongs to one job, so a released key never equals another
/// key.
extension JobRecord {
  /// The key that the job holds, with its kind as a prefix; `nil` if it holds none.
  var uniqueKey: String? {
    get { string(.uniqueKey).flatMap { $0.hasPrefix(mark) ? nil : $0 } }
    set { set(.uniqueKey, newValue) }
  }

  /// The key that the job has released to run; `nil` if it has released none.
  var releasedUniqueKey: String? {
    string(.uniqueKey).flatMap { $0.hasPrefix(mark) ? String($0.dropFirst(mark.count)) : nil }
  }

  mutating func releaseUniqueKey() {
    if let uniqueKey { set(.uniqueKey, mark + uniqueKey) }
  }

  private var mark: String { "\(id)/" }
}
