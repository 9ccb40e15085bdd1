import Console
import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import StatusModel
import StoreJobs
import SystemSupport
import WebServer

extension StatusSite {
  /// Takes an action, records it, and leads back to the page.
  func act(_ request: WebRequest) -> WebResponse {
    guard options.csrf != nil else {
      return WebResponse(
        status: 403, line: "the pages are read-only; start `mooring serve` with --allow-actions")
    }
    guard let action = Action(request) else {
      return WebResponse(status: 400, line: "the form names no action that there is")
    }
    let author = author(of: request)
    let (queue, store) = (JobQueue(store), store)
    do {
      try waiting {
        var outcome = "done"
        var failure: (any Error)?
        do {
          try await action.take(in: queue)
        } catch {
          outcome = "\(error)"
          failure = error
        }
        try await ActionLog.add(
          action: action.name, target: action.target, outcome: outcome, by: author, to: store)
        if let failure { throw failure }
      }
    } catch {
      return WebResponse(status: 409, line: "\(error)".singleLine)
    }
    forgetStatus()
    return WebResponse(
      status: 303, headers: [("Location", action.page)], body: .bytes([]))
  }

  private func author(of request: WebRequest) -> String {
    guard options.trustsRemoteUser, let user = request.header("remote-user"), !user.isEmpty else {
      return options.author
    }
    return String(user.prefix(64))
  }

  /// Runs a task to its end. Only for the threads of handlers, which may block.
  private func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
    let ended = DispatchSemaphore(value: 0)
    let failure = Locked<(any Error)?>(nil)
    Task {
      do {
        try await body()
      } catch {
        failure.withLock { $0 = error }
      }
      ended.signal()
    }
    ended.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

/// One of the actions that a page offers.
private enum Action: Sendable {
  case retry(JobID)
  case cancel(JobID)
  case pause(QueueName)
  case resume(QueueName)
  case sync(feed: Int64)

  init?(_ request: WebRequest) {
    let job = request.field("job").flatMap { Int64($0) }.map { JobID(rawValue: $0) }
    let queue = request.field("queue").map { QueueName(rawValue: $0) }
    let feed = request.field("feed").flatMap { Int64($0) }
    switch (request.field("action"), job, queue, feed) {
    case ("retry", let job?, _, _): self = .retry(job)
    case ("cancel", let job?, _, _): self = .cancel(job)
    case ("pause", _, let queue?, _): self = .pause(queue)
    case ("resume", _, let queue?, _): self = .resume(queue)
    case ("sync now", _, _, let feed?): self = .sync(feed: feed)
    default: return nil
    }
  }

  func take(in jobs: JobQueue) async throws {
    switch self {
    case .retry(let job): try await jobs.retry(job)
    case .cancel(let job): try await jobs.cancel(job)
    case .pause(let queue): try await jobs.pause(queue)
    case .resume(let queue): try await jobs.resume(queue)
    case .sync(let number):
      let feed = try Feeds(jobs.store).find("\(number)").feed
      try await jobs.enqueue(SyncFeed(feed: number, host: feed.host))
    }
  }

  var name: String {
    switch self {
    case .retry: "retry job"
    case .cancel: "cancel job"
    case .pause: "pause queue"
    case .resume: "resume queue"
    case .sync: "sync feed"
    }
  }

  var target: String {
    switch self {
    case .retry(let job), .cancel(let job): "\(job)"
    case .pause(let queue), .resume(let queue): queue.rawValue
    case .sync(let feed): "\(feed)"
    }
  }

  /// The page to which the action leads back.
  var page: String {
    switch self {
    case .retry(let job), .cancel(let job): "/jobs/\(job)"
    case .pause, .resume: "/jobs"
    case .sync(let feed): "/feeds/\(feed)"
    }
  }
}
