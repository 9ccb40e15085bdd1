import Console
import DurableJobs
package import EntityStore
import FeedSync
import Foundation
package import StatusModel
import SystemSupport
package import WebServer

/// The pages of a store: answers requests. Any thread may call it.
///
///     /                       what needs attention
///     /feeds  /feeds/N        the feeds, one feed
///     /runs                   the last runs
///     /jobs  /jobs?state=S  /jobs/N
///                             the jobs, those of a state, one job
///     /store                  the file, backups, history
///     /fetches                slow fetches, indexes that can be dropped
///     /records  /records/E  /records/E/N
///                             the entities, the records of one, one record
///     /log                    the actions that were taken
///     /events                 server-sent events: `change` after commits
///
/// Each page is also JSON (`?format=json`), each table a CSV file (`?format=csv&table=NAME`), and
/// the part below the navigation alone is `?part=main`.
package final class StatusSite: Sendable {
  package struct Options: Sendable {
    /// The token of the forms; nil for pages that are read-only.
    package var csrf: String?
    /// The author of actions, unless a header of a proxy names one.
    package var author = ""
    /// True to take the author from the header `Remote-User` of a proxy.
    package var trustsRemoteUser = false

    package init() {}
  }

  /// The most jobs that the list of a state has.
  private static let jobsListed = 100

  let store: Store
  let reader: StatusReader
  let options: Options
  /// The channel of `change` events.
  package let changes = EventChannel()
  private let cache = Locked(StatusCache())

  package init(_ store: Store, _ reader: StatusReader, options: Options = Options()) {
    self.store = store
    self.reader = reader
    self.options = options
  }

  package func answer(_ request: WebRequest) -> WebResponse {
    do {
      switch (request.method, request.path) {
      case ("POST", "/actions"): return act(request)
      case ("POST", _): return WebResponse(status: 404, line: "there is no such action")
      case (_, "/events"): return WebResponse(body: .events(changes))
      case (_, "/style.css"): return Assets.response(Assets.style, "text/css")
      case (_, "/script.js"): return Assets.response(Assets.script, "text/javascript")
      case (_, "/favicon.ico"): return Assets.response(Assets.icon, "image/svg+xml")
      default: return try present(try page(for: request), request)
      }
    } catch let error as MissingPage {
      return WebResponse(status: 404, line: error.line)
    } catch let error as StoreError where [.unknownEntity].contains(error.code) {
      return WebResponse(status: 404, line: "\(error)".singleLine)
    } catch {
      return WebResponse(status: 503, line: "\(error)".singleLine)
    }
  }

  // MARK: Pages

  struct MissingPage: Error { let line: String }

  private func page(for request: WebRequest) throws -> Page {
    let parts = request.path.split(separator: "/").map(String.init)
    let number = parts.count > 1 ? parts.last.flatMap { Int64($0) } : nil
    switch (parts.first, parts.count) {
    case (nil, _): return try .overview(try status())
    case ("feeds", 1): return try feeds(request)
    case ("feeds", 2): return try feed(number)
    case ("runs", 1): return try .runs(try status())
    case ("jobs", 1): return try jobs(request)
    case ("jobs", 2): return try job(number)
    case ("store", 1): return try .store(try status())
    case ("fetches", 1): return try .fetches(try status())
    case ("log", 1): return try .log(try status())
    case ("records", 1...3): return try records(parts, number, request)
    default: throw MissingPage(line: "there is no such page; begin at /")
    }
  }

  private var forms: ActionForms { ActionForms(csrf: options.csrf) }

  private func feeds(_ request: WebRequest) throws -> Page {
    let status = try status()
    let from = max(0, request.value(of: "from").flatMap { Int($0) } ?? 0)
    let feeds = from == 0 ? status.feeds : try reader.feeds(from: from)
    return try .feeds(status, feeds, from: from)
  }

  private func feed(_ number: Int64?) throws -> Page {
    guard let number, let feed = try reader.feed(number) else {
      throw MissingPage(line: "there is no such feed; see /feeds")
    }
    return try .feed(
      feed, try Feeds(store).runs(of: number).map { try $0.summary }, at: store.now(),
      actions: forms.feed(number))
  }

  private func jobs(_ request: WebRequest) throws -> Page {
    let status = try status()
    guard let name = request.value(of: "state") else {
      return try .jobs(status, actions: forms)
    }
    guard let state = JobState(rawValue: name), let counts = status.jobs else {
      throw MissingPage(line: "no job can be in such a state; see /jobs")
    }
    let listed = try store.read {
      try JobQueue(store).jobs(in: state, limit: Self.jobsListed, in: $0)
    }
    return try .jobs(in: state, listed, of: counts.count(state), at: store.now())
  }

  private func job(_ number: Int64?) throws -> Page {
    guard let number, try store.hasJobs,
      let details = try JobQueue(store).details(of: JobID(rawValue: number))
    else { throw MissingPage(line: "there is no such job; see /jobs") }
    return try .job(details, at: store.now(), actions: forms)
  }

  private func records(
    _ parts: [String], _ number: Int64?, _ request: WebRequest
  ) throws -> Page {
    try store.read { transaction in
      let browser = RecordBrowser(transaction: transaction, now: store.now())
      if parts.count == 1 { return try browser.entities() }
      guard !RecordBrowser.isHidden(parts[1]) else {
        throw MissingPage(line: "the entities of Mooring itself are on the other pages")
      }
      if parts.count == 2 { return try browser.records(of: parts[1], request) }
      guard let number, let page = try browser.record(number, of: parts[1]) else {
        throw MissingPage(line: "there is no such record; see /records/\(parts[1])")
      }
      return page
    }
  }

  // MARK: The status

  /// Returns the status of the newest commit, at most a second old: a hundred pages that are
  /// refreshed after a commit read it once.
  func status() throws -> StoreStatus {
    try cache.withLock { cache in
      let now = ContinuousClock.now
      if let known = cache.status, now - cache.readAt < .seconds(1) { return known }
      let status = try reader.read()
      cache = StatusCache(status: status, readAt: now)
      return status
    }
  }

  func forgetStatus() { cache.withLock { $0 = StatusCache() } }

  private struct StatusCache {
    var status: StoreStatus?
    var readAt = ContinuousClock.now
  }

  // MARK: Forms of a page

  private func present(_ page: Page, _ request: WebRequest) throws -> WebResponse {
    func response(_ type: String, _ text: String, name: String? = nil) -> WebResponse {
      var headers: [WebRequest.Field] = [("Content-Type", "\(type); charset=utf-8")]
      if let name {
        headers.append(("Content-Disposition", "attachment; filename=\"\(name)\""))
      }
      return WebResponse(status: page.status, headers: headers, body: .bytes(Array(text.utf8)))
    }
    switch request.value(of: "format") {
    case "json": return response("application/json", page.json + "\n")
    case "csv":
      guard let name = request.value(of: "table"), let table = page.table(named: name) else {
        throw MissingPage(line: "the page has no such table")
      }
      return response("text/csv", table.csv, name: "\(name).csv")
    case nil: break
    default: throw MissingPage(line: "a page is HTML, json or csv")
    }
    let main = page.main { name in Self.link(request, [("format", "csv"), ("table", name)]) }
    if request.value(of: "part") == "main" { return response("text/html", main.text) }
    let document = Layout.document(
      page.title, main, path: request.path, json: Self.link(request, [("format", "json")]))
    return response("text/html", document.text)
  }

  /// The URL of the same page with further query items.
  private static func link(_ request: WebRequest, _ items: [WebRequest.Field]) -> String {
    let kept = request.query.filter { !["format", "table", "part"].contains($0.name) }
    return FormText.target(path: request.path, query: kept + items)
  }
}
