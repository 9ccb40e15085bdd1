import EntityModel
import EntityStore
import Foundation

/// Counts the jobs of each lane, and those of each state.
struct LaneSurvey {
  private struct Name: Hashable {
    let queue: String
    let kind: String
  }

  private let rows: JobRows
  private var lanes: [Name: JobStatistics.Lane] = [:]
  /// The number of jobs by state, also of those that no lane counts.
  private(set) var counts: [String: Int] = [:]
  /// The number of jobs that may still be read to find their lane.
  private var readsLeft: Int
  /// False if a lane lacks jobs, because too many would have been read.
  private(set) var isComplete = true

  init(_ rows: JobRows, readingAtMost readsMax: Int) {
    self.rows = rows
    readsLeft = readsMax
  }

  func lanes(paused: Set<QueueName>, served: Set<String>) -> [JobStatistics.Lane] {
    lanes.values.sorted { ($0.queue, $0.kind) < ($1.queue, $1.kind) }.map { lane in
      var lane = lane
      lane.isPaused = paused.contains(QueueName(rawValue: lane.queue))
      lane.isServed = served.contains(lane.kind)
      return lane
    }
  }

  /// Counts the jobs of all states.
  mutating func count() throws {
    for state in JobState.allCases where state != .ready {
      counts[state.rawValue] = try count([.string(state.rawValue)])
    }
    try countReady()
    try count(.running) { $0.running += 1 }
    try count(.held) { $0.held += 1 }
    try count(.scheduled) { $0.scheduled += 1 }
    try count(.blocked) { $0.blocked += 1 }
  }

  /// Counts the entries of the index that begin with the values.
  private func count(_ turn: [Value]) throws -> Int {
    try IndexPrefixCursor.count(rows.turns, of: rows.jobs, leading: turn, in: rows.snapshot)
  }

  /// Counts the ready jobs by lane: each of them has one, and none has a place.
  private mutating func countReady() throws {
    counts[JobState.ready.rawValue] = 0
    var heads: [JobRecord] = []
    try rows.eachLane(.ready) { job in
      heads.append(job)
      return true
    }
    for head in heads {
      let count = try count([.string(JobState.ready.rawValue), .null, .string(head.lane)])
      counts[JobState.ready.rawValue, default: 0] += count
      let oldest = try oldestReady(in: head.lane)
      change(Name(queue: head.queue.rawValue, kind: head.kind.rawValue)) { lane in
        lane.ready = count
        lane.oldestReadyAt = oldest
      }
    }
  }

  /// The time of the oldest ready job: the first job of each priority is the oldest one.
  private func oldestReady(in lane: String) throws -> Date? {
    var oldest: Date?
    var last: Value?
    while let number = try rows.cursor(.ready, [.null, .string(lane)], beyond: last).next() {
      let job = try rows.job(ofTurn: number)
      oldest = min(oldest ?? job.at, job.at)
      last = .int64(job.rank)
    }
    return oldest
  }

  /// Counts the jobs of a state whose index entries have no lane, up to the bound.
  private mutating func count(
    _ state: JobState, _ add: (inout JobStatistics.Lane) -> Void
  ) throws {
    let cursor = try rows.cursor(state)
    while let number = try cursor.next() {
      guard readsLeft > 0 else {
        isComplete = false
        return
      }
      readsLeft -= 1
      guard let row = try rows.snapshot.row(number, of: rows.jobs) else { continue }
      let text = { (column: JobColumn) in try row.value(column.rawValue).stringValue ?? "" }
      change(Name(queue: try text(.queue), kind: try text(.kind)), add)
    }
  }

  /// Adds the aggregates from a minute on to the lanes.
  ///
  /// - Parameter minutes: The length of the window, for the rates.
  /// - Returns: The sums over all lanes.
  mutating func addEnded(sinceMinute first: Int64, minutes: Double) throws -> JobStatistics.Ended {
    var all = EndedCounts()
    var byName: [Name: EndedCounts] = [:]
    try rows.eachRecord(
      of: MinuteRecord.entity, by: "byMinute", beyond: .int64(first - 1)
    ) { record in
      let name = Name(
        queue: try record["queue"].stringValue ?? "", kind: try record["kind"].stringValue ?? "")
      try all.add(record)
      try byName[name, default: EndedCounts()].add(record)
    }
    for (name, counts) in byName { change(name) { $0.ended = counts.ended(in: minutes) } }
    return all.ended(in: minutes)
  }

  private mutating func change(_ name: Name, _ change: (inout JobStatistics.Lane) -> Void) {
    change(&lanes[name, default: JobStatistics.Lane(queue: name.queue, kind: name.kind)])
  }
}
