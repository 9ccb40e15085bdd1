import ArgumentParser
import Console
import DurableJobs
import FeedSync
import HTTPClient

extension CompletionKind {
  /// The feeds of the store by URL, or by number after a digit.
  static let feed = fromStore { store, line in
    let asksForNumber = line.word.first?.isNumber == true
    return try Feeds(store).list().map { id, feed in
      asksForNumber ? Completion("\(id)", shownURL(feed.url)) : Completion(feed.url, feed.title)
    }
  }

  /// The newest jobs.
  static let job = fromStore { store, _ in
    guard try store.hasJobs else { return [] }
    var filter = JobFilter()
    filter.limit = 200
    return try JobQueue(store).list(filter).map {
      Completion($0.id.description, "\($0.kind) \(JobText.state($0))")
    }
  }

  /// The queues that have jobs or are paused.
  static let queue = fromStore { store, _ in
    guard try store.hasJobs else { return [] }
    let queue = JobQueue(store)
    let paused = try queue.pausedQueues().map(\.rawValue)
    let used = try queue.statistics().lanes.map(\.queue)
    return Set(["default"] + paused + used).sorted().map { Completion($0) }
  }

  /// The schedules of the store.
  static let schedule = fromStore { store, _ in
    guard try store.hasJobs else { return [] }
    return try JobQueue(store).scheduleStatuses().map { Completion($0.name, $0.kind) }
  }

  static let jobState = CompletionKind.list(JobState.allCases.map(\.rawValue))
  static let jobKind = CompletionKind.list(JobRequestOptions.types.map { $0.kind.rawValue })
}
