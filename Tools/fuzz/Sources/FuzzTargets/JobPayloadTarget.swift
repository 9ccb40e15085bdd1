import Foundation
import Mooring

@testable import DurableJobs
@testable import EntityStore
@testable import StoreJobs

/// Reads the bytes as the payload of each kind of job, as the request of a schedule, and as what a
/// job keeps between its attempts. Each gives a value or an error. A payload that is read can be
/// enqueued, reads back to the same job, and its fetch gives rows or an error.
@_cdecl("fuzz_job_payload")
public func fuzzJobPayload(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns; they are copied.
  let data = Data(UnsafeBufferPointer(start: bytes, count: count))
  readBack(SyncFeed.self, data)
  readBack(InsertRecords.self, data)
  readBack(BuildIndexes.self, data)
  readBack(PruneStore.self, data)
  readBack(CompactStore.self, data)
  readBack(BackUpStore.self, data)
  readBack(CheckStore.self, data)
  if let job = readBack(DurableFetch.self, data) { fetch(job.request) }
  if let job = readBack(ExportFetch.self, data) { fetch(job.request) }
  if let job = readBack(DeleteRecords.self, data) { fetch(job.entity, job.predicate) }
  if let job = readBack(UpdateRecords.self, data) { fetch(job.entity, job.predicate) }
  readSchedule(data)
  readResults(data)
}

/// Returns nil if the bytes are no payload of the type.
@discardableResult
private func readBack<J: Job & Equatable>(_ type: J.Type, _ data: Data) -> J? {
  guard let job = decoded(J.self, data) else { return nil }
  do {
    let request = try JobRequest(job)
    guard try JobJSON.decoder.decode(J.self, from: request.payload) == job else {
      fatalError("another job is read back: \(job)")
    }
    try request.check(at: Date(timeIntervalSinceReferenceDate: 0))
  } catch is JobError {
    return nil
  } catch {
    fatalError("an error of another kind: \(error)")
  }
  return job
}

private func decoded<D: Decodable>(_ type: D.Type, _ data: Data) -> D? {
  do { return try JobJSON.decoder.decode(type, from: data) } catch { return nil }
}

// MARK: Fetches

private func fetch(_ entity: String, _ predicate: FetchPredicate?) {
  var request = FetchRequest(entityName: entity)
  request.predicate = predicate
  fetch(request)
}

private func fetch(_ request: FetchRequest) {
  _ = unlessRefused {
    try fixture.store.read { transaction in
      _ = try transaction.explain(request)
      return try transaction.execute(request)
    }
  }
}

// MARK: Records of jobs

/// Reads the record of a schedule: the bytes are its request, and a number in it its jitter.
private func readSchedule(_ data: Data) {
  struct Numbers: Decodable { var jitter: Double? }
  var record = fixture.schedule
  do {
    try record.set("request", to: .data(data))
    if let jitter = decoded(Numbers.self, data)?.jitter {
      try record.set("jitter", to: .double(jitter))
    }
    let schedule = try JobSchedule(record)
    _ = schedule.recurrence.next(after: Date(timeIntervalSinceReferenceDate: 800_000_000))
    _ = try JobSchedule(Record(id: record.id, layout: record.layout, named: schedule.values()))
  } catch is JobError {
    return
  } catch {
    fatalError("an error of another kind: \(error)")
  }
}

extension Record {
  fileprivate init(id: ObjectID, layout: EntityLayout, named values: [String: Value]) throws {
    self.init(
      id: id, layout: layout,
      values: layout.description.attributes.map { values[$0.name] ?? .null })
  }
}

private func readResults(_ data: Data) {
  _ = decoded(BatchReport.self, data)
  _ = decoded(DurableFetch.Output.self, data)
  _ = decoded(SyncReport.self, data)
  _ = decoded(JobProgress.self, data)
  _ = decoded(JobStatistics.self, data)
  _ = decoded(Int64.self, data)
  var histogram = DurationHistogram(data)
  histogram.add(histogram)
  _ = histogram.percentile(0.99)
  guard DurationHistogram(histogram.data) == histogram else {
    fatalError("another histogram is read back")
  }
}

private let fixture = Fixture()

private struct Fixture {
  let store: Store
  let schedule: Record

  init() {
    do {
      store = try withFolder { folder in
        try Store.open(
          at: folder, migrations: SampleStore.migrations + [.jobs], migrate: .ifEmpty,
          options: SampleStore.options)
      }
      try SampleStore.fill(store)
      let layout = try store.catalog().entity("_JobSchedule")
      let times = try Recurrence(CronExpression("*/5 * * * *"), in: Recurrence.zone(named: "UTC"))
      let schedule = JobSchedule("nightly", times, try JobRequest(CheckStore()))
      self.schedule = try Record(
        id: ObjectID(entity: "_JobSchedule", number: 1), layout: layout, named: schedule.values())
    } catch {
      fatalError("no store: \(error)")
    }
  }
}
