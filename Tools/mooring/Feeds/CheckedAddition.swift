import Console
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import WorkerService

/// Adds feeds, each after a request that shows that it is one.
struct CheckedAddition {
  private let store: Store
  private let feeds: Feeds
  private let check: FeedCheck
  private let settings: Feeds.Settings
  private let isQuiet: Bool

  init(_ store: Store, _ settings: Feeds.Settings, isQuiet: Bool) throws {
    let worker = try WorkerSettings.load(environment: ProcessInfo.processInfo.environment).settings
    self.store = store
    feeds = Feeds(store)
    check = FeedCheck(
      store: store, transport: try CurlTransport.naming(worker.contact),
      hostSpacing: worker.hostSpacing)
    self.settings = settings
    self.isQuiet = isQuiet
  }

  /// Adds one feed.
  ///
  /// - Throws: The error of the request; then nothing is added.
  func add(_ url: String) async throws {
    try await requireWritableStore()
    let (finding, isNew): (FeedCheck.Finding, Bool)
    do {
      (finding, isNew) = try await found(.init(url))
    } catch {
      guard try isAddedWithoutCheck(url, error) else { throw error }
      let failure = NotAdded(url: shownURL(url), cause: error)
      throw CommandError(
        failure.exitStatus, "\(failure); or add it without a check: --no-check")
    }
    if isNew || !finding.isNamedByPage {
      let verb = isNew ? "added" : "changed"
      say("\(verb) the feed \(shownURL(finding.url))\(origin(finding, url))")
    } else {
      say("\(shownURL(finding.url))\(origin(finding, url)), is a feed already")
    }
    for other in finding.others {
      let title = other.title.map { " (\"\($0)\")" } ?? ""
      say("\(shownURL(url)) also names \(shownURL(other.url))\(title)")
    }
  }

  /// Adds the feeds of a list, and reports what became of each URL.
  ///
  /// - Throws: `CommandError` if one was refused; the others are added.
  func add(_ list: FeedList) async throws {
    try await requireWritableStore()
    try feeds.check(settings, of: list.entries.map(\.url))
    var outcomes: [Feeds.Addition] = []
    var positions: [String: Int] = [:]
    for (position, entry) in list.entries.enumerated() {
      if let first = positions[entry.url] {
        outcomes.append(.repeated(first))
        continue
      }
      positions[entry.url] = position
      do {
        let (finding, isNew) = try await found(entry.subscription)
        if finding.isNamedByPage {
          say("the feed is \(shownURL(finding.url))\(origin(finding, entry.url))")
        }
        outcomes.append(isNew ? .added : .changed)
      } catch let error where error is SyncError || error is HTTPError {
        outcomes.append(.refused(error))
      }
    }
    try list.report(outcomes, isQuiet: isQuiet)
  }

  /// Checks before any request that the feeds can be stored.
  ///
  /// - Throws: The error of a store with pending migrations.
  private func requireWritableStore() async throws {
    try await store.write(author: "feed") { _ in }
  }

  /// Returns true if the URL is no feed, and would be one without the check.
  private func isAddedWithoutCheck(_ url: String, _ error: any Error) throws -> Bool {
    let status: ExitStatus
    switch error {
    case let error as SyncError: status = error.exitStatus
    case let error as HTTPError: status = error.exitStatus
    default: return false
    }
    guard status != .usage, status != .configuration else { return false }
    return try feeds.feed(named: url) == nil
  }

  private func found(
    _ subscription: Feeds.Subscription
  ) async throws -> (FeedCheck.Finding, isNew: Bool) {
    let finding = try await check.check(subscription.url, settings)
    say("\(shownURL(finding.url)): \(summary(finding))")
    for warning in finding.warnings { say("\(shownURL(finding.url)): \(warning)") }
    var settings = settings
    settings.found = .init(title: finding.title, isHostPublic: finding.isHostPublic)
    var found = subscription
    found.url = finding.url
    return (finding, try await feeds.add(found, settings))
  }

  private func summary(_ finding: FeedCheck.Finding) -> String {
    let count = finding.items
    let items =
      count == 0 ? "no items" : Formatting.count(Int64(count)) + (count == 1 ? " item" : " items")
    let unusable =
      finding.unusable == 0 ? "" : ", \(Formatting.count(Int64(finding.unusable))) of them unusable"
    let title = finding.title.map { ", \"\($0)\"" } ?? ""
    return "\(finding.format), \(items)\(unusable)\(title)"
  }

  private func origin(_ finding: FeedCheck.Finding, _ url: String) -> String {
    finding.isNamedByPage ? ", which \(shownURL(url)) names" : ""
  }

  private func say(_ text: String) {
    if !isQuiet { Message.say(text) }
  }
}

extension CurlTransport {
  /// Returns a transport that names the program and the operator's contact.
  static func naming(_ contact: String?) throws -> CurlTransport {
    var configuration = Configuration()
    configuration.userAgent = UserAgent.text(contact: contact)
    return try CurlTransport(configuration: configuration)
  }
}
