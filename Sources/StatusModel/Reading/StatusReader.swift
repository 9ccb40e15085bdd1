import DurableJobs
public import EntityStore
public import FeedSync
import Foundation
import Maintenance
import Migrations
import StoreHub
import SystemSupport

/// Reads the status of a store.
public struct StatusReader: Sendable {
  /// The most feeds, jobs and runs that are listed.
  public var listed = 50
  /// The worker's schedule of feeds.
  public var timing = FeedTiming()
  /// The bytes that the worker leaves free on the volume.
  public var reserveBytes: Int64 = 64 << 20

  let store: Store
  let migrationSurvey = MigrationSurvey()

  /// - Parameter store: Open for reading, with the migrations that the program knows.
  public init(_ store: Store) { self.store = store }

  /// Returns the status now.
  ///
  /// - Complexity: A few microseconds for each feed; the pages above the index entries of the jobs;
  ///   the trees and the free list; a bounded number of records.
  /// - Throws: `StoreError`.
  public func read() throws -> StoreStatus {
    let now = store.now()
    let migrations = try migrationSurvey.status(of: store)
    let hub = try hub()
    var status = try store.read { transaction in
      let jobs = try jobs(transaction)
      return StoreStatus(
        at: now, folder: store.folder, transaction: transaction.number,
        feeds: try feeds(from: 0, transaction, now), runs: try runs(transaction),
        jobs: jobs, workers: workers(jobs), file: try file(transaction, now),
        history: try history(transaction), migrations: migrations,
        backups: backups(), check: check(), trend: try trend(transaction, now),
        fetches: try fetches(transaction, now), hub: hub,
        actions: try ActionLog.last(listed, in: transaction))
    }
    status.problems = ProblemSearch(status).problems
    return status
  }

  /// Returns one feed; nil if there is none.
  public func feed(_ number: Int64) throws -> FeedStatus? {
    try store.read { try feed(number, $0, store.now()) }
  }

  /// Returns a page of the list of feeds, the worst first.
  ///
  /// - Parameter first: The place in the list at which the page begins.
  public func feeds(from first: Int) throws -> FeedsStatus {
    try store.read { try feeds(from: first, $0, store.now()) }
  }
}
