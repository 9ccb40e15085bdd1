import Foundation
import HTTPClient
import Synchronization

/// The servers of a simulation. Each host has a mood, which changes at random: it answers, asks to
/// wait, fails, is slow or cannot be reached.
final class Network: Sendable {
  enum Mood: CaseIterable {
    case well, busy, overloaded, failing, slow, cut
  }

  fileprivate enum Answer {
    case page, notModified, garbage
    case status(Int, retryAfter: Int?)
    case unreachable, timeout
  }

  private struct Host {
    var mood = Mood.well
    var calmsAt = 0
  }

  private struct State {
    var models = FeedModels()
    var hosts: [String: Host] = [:]
    var versions: [String: Int] = [:]
    var violation: Violation?
    var isHealthy = false
    var requests = 0
    var isDiskFull = false
  }

  private let clock: VirtualClock
  private let chance: Chance
  private let trace: Trace
  private let state = Mutex(State())

  init(clock: VirtualClock, chance: Chance, trace: Trace) {
    (self.clock, self.chance, self.trace) = (clock, chance, trace)
  }

  var now: Moment { Moment(elapsed: clock.elapsed, wall: clock.now) }
  var requests: Int { state.withLock(\.requests) }
  var violation: Violation? { state.withLock(\.violation) }
  var models: FeedModels { state.withLock(\.models) }
  func change(_ body: (inout FeedModels) -> Void) { state.withLock { body(&$0.models) } }
  func setDisk(full isFull: Bool) { state.withLock { $0.isDiskFull = isFull } }

  /// Lets all hosts answer from now on.
  func heal() {
    state.withLock { state in
      state.isHealthy = true
      state.hosts = [:]
    }
  }

  // MARK: Requests

  /// - Parameter link: The link of the machine that asks; `nil` if there is one machine.
  func send(_ request: HTTPRequest, from link: HubLink?) async throws -> HTTPResponse {
    let url = request.url
    let (index, answer, milliseconds) = try begin(request, link)
    do {
      guard let strand = Strand.current else { throw Violation("a request outside of a strand") }
      try await strand.sleep(milliseconds: milliseconds)
    } catch {
      state.withLock { _ = $0.models.feeds[index].askers.remove(link?.number ?? 0) }
      if Strand.current?.isKilled == true { throw error }
      throw HTTPError(.cancelled, url)
    }
    return try deliver(answer, to: request, index, link)
  }

  private func begin(_ request: HTTPRequest, _ link: HubLink?) throws -> (Int, Answer, Int) {
    let now = self.now
    let mood = mood(of: request.url)
    let (answer, milliseconds) = answer(to: request, mood)
    return try state.withLock { state in
      state.requests += 1
      guard let index = state.models.index(of: request.url) else {
        throw Violation("a request for \(request.url)")
      }
      do {
        let hasLease = link?.hasLease(ofFeed: state.models.feeds[index].number) ?? true
        try state.models.ask(index, from: link?.number ?? 0, hasLease: hasLease, at: now)
      } catch let violation as Violation {
        if state.violation == nil { state.violation = violation }
      }
      trace.add("request \(request.url) \(mood) \(answer) \(milliseconds)")
      return (index, answer, milliseconds)
    }
  }

  private func mood(of url: String) -> Mood {
    let name = Self.host(of: url)
    var host = state.withLock { $0.hosts[name] } ?? Host()
    if state.withLock(\.isHealthy) { return .well }
    if clock.elapsed >= host.calmsAt {
      host.mood = chance.one(in: 4) ? chance.pick(Mood.allCases) : .well
      host.calmsAt = clock.elapsed + chance.wait(mean: 3 * 3_600_000)
      state.withLock { [host] in $0.hosts[name] = host }
    }
    return host.mood
  }

  private func answer(to request: HTTPRequest, _ mood: Mood) -> (Answer, Int) {
    let milliseconds = chance.number(20...2_000)
    switch mood {
    case .well:
      if chance.one(in: 200) { return (.status(410, retryAfter: nil), milliseconds) }
      if chance.one(in: 100) { return (.garbage, milliseconds) }
      return (hasNews(request) ? .page : .notModified, milliseconds)
    case .busy:
      let retry = chance.one(in: 3) ? nil : chance.number(0...7_200)
      return (.status(429, retryAfter: retry), milliseconds)
    case .overloaded:
      let retry = chance.one(in: 3) ? nil : chance.number(0...7_200)
      return (.status(503, retryAfter: retry), milliseconds)
    case .failing:
      return (.status(chance.pick([500, 502, 404, 403]), retryAfter: nil), milliseconds)
    case .slow:
      if chance.one(in: 3) { return (.timeout, 60_000) }
      return (.page, chance.number(5_000...59_000))
    case .cut: return (.unreachable, chance.number(1...3_000))
    }
  }

  private func hasNews(_ request: HTTPRequest) -> Bool {
    state.withLock { state in
      if chance.one(in: 3) || state.versions[request.url] == nil {
        state.versions[request.url, default: 0] += 1
      }
      return request.conditions?.etag != "\"\(state.versions[request.url] ?? 0)\""
    }
  }

  // MARK: Answers

  private func deliver(
    _ answer: Answer, to request: HTTPRequest, _ index: Int, _ link: HubLink?
  ) throws -> HTTPResponse {
    let (now, url) = (self.now, request.url)
    let maxAge = chance.one(in: 3) ? chance.number(60...10_000) : nil
    return try state.withLock { state in
      let version = state.versions[url] ?? 0
      let isStored = !state.isDiskFull && link?.canWrite ?? true
      state.models.deliver(to: index, of: link?.number ?? 0, isStored: isStored, at: now) {
        models in
        models.apply(answer.effect(maxAge: maxAge), to: index, at: now)
      }
      trace.add("answer \(url) \(answer) max-age \(maxAge ?? -1)")
      var headers = [("Content-Type", "application/feed+json"), ("ETag", "\"\(version)\"")]
      if let maxAge { headers.append(("Cache-Control", "max-age=\(maxAge)")) }
      func response(_ status: Int, _ text: String = "", retryAfter: Int? = nil) -> HTTPResponse {
        HTTPResponse(
          status: status, headers: headers, body: PaddedBytes(Array(text.utf8)), effectiveURL: url,
          retryAfter: retryAfter, isHostPublic: true)
      }
      switch answer {
      case .page: return response(200, Self.document(url, version))
      case .notModified: return response(304)
      case .garbage: return response(200, "<html>")
      case .status(let status, let retryAfter): return response(status, retryAfter: retryAfter)
      case .unreachable: throw HTTPError(.unreachable, url)
      case .timeout: throw HTTPError(.timeout, url)
      }
    }
  }

  private static func document(_ url: String, _ version: Int) -> String {
    let items = (max(0, version - 3)...version).map { number in
      """
      {"id":"\(url)#\(number)","url":"\(url)/\(number)","title":"Item \(number)",
       "content_text":"text \(number)","date_published":"2026-01-01T00:00:00Z"}
      """
    }
    return """
      {"version":"https://jsonfeed.org/version/1.1","title":"\(url)",
       "items":[\(items.joined(separator: ","))]}
      """
  }

  static func host(of url: String) -> String {
    String(url.split(separator: "/").dropFirst().first ?? "")
  }
}

/// The network as the processes of one machine use it.
struct NetworkAccess: HTTPTransport {
  private let network: Network
  private let link: HubLink?

  init(_ network: Network, link: HubLink?) { (self.network, self.link) = (network, link) }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try await network.send(request, from: link)
  }
}

extension Network {
  /// The meaning of an answer to the model.
  enum Effect {
    /// - maxAge: The seconds for which it says to stay fresh.
    case success(maxAge: Int?, isNew: Bool)
    case failure(status: Int?, retryAfter: Int?)
    case gone
  }
}

extension Network.Answer {
  fileprivate func effect(maxAge: Int?) -> Network.Effect {
    switch self {
    case .page: .success(maxAge: maxAge, isNew: true)
    case .notModified: .success(maxAge: maxAge, isNew: false)
    case .status(410, _): .gone
    case .status(let status, let retryAfter): .failure(status: status, retryAfter: retryAfter)
    case .garbage, .unreachable, .timeout: .failure(status: nil, retryAfter: nil)
    }
  }
}

extension FeedModels {
  /// Ends a request. An answer that the program cannot store changes nothing but the request.
  mutating func deliver(
    to index: Int, of machine: Int, isStored: Bool, at now: Moment,
    _ apply: (inout FeedModels) -> Void
  ) {
    feeds[index].askers.remove(machine)
    guard isStored else { return }
    feeds[index].isCertain = true
    feeds[index].wasCut = false
    // After a step of the clock backward a run counts as begun at its end.
    if let start = feeds[index].lastStart?.wall, now.wall < start {
      feeds[index].lastStart?.wall = now.wall
    }
    apply(&self)
  }

  mutating func apply(_ effect: Network.Effect, to index: Int, at now: Moment) {
    switch effect {
    case .success(let maxAge, let isNew):
      feeds[index].errors = 0
      feeds[index].wait = nil
      feeds[index].setFresh(maxAge, isNew, self)
    case .failure(let status, let retryAfter):
      feeds[index].errors += 1
      feeds[index].lastStatus = status
      apply(status, retryAfter, to: index, at: now)
    case .gone:
      feeds[index].errors += 1
      feeds[index].lastStatus = 410
      feeds[index].isGone = true
    }
  }

  /// A 429 asks for a wait of the whole host, of ten minutes if it names none and at least of one;
  /// a 503 only if it names one.
  private mutating func apply(
    _ status: Int?, _ retryAfter: Int?, to index: Int, at now: Moment
  ) {
    let host = feeds[index].host
    if status == 429 {
      let promise = promise(for: max(60, retryAfter ?? 600), from: now)
      feeds[index].wait = promise
      if promise.until > hostWaits[host]?.until ?? .distantPast { hostWaits[host] = promise }
    } else if status == 503, let retryAfter {
      feeds[index].wait = promise(for: retryAfter, from: now)
    }
  }
}

extension FeedModel {
  /// An answer stays fresh from the start of its run on, for a quarter of an hour to a day. A 304
  /// shortens the time of the last answer at most.
  mutating func setFresh(_ maxAge: Int?, _ isNew: Bool, _ models: FeedModels) {
    guard let start = lastStart else { return }
    let promised = maxAge.map { min(max($0, 900), 86_400) }
    if isNew {
      (promisedFor, freshFor) = (promised, promised)
    } else {
      freshFor = promisedFor.map { min($0, promised ?? $0) }
    }
    fresh = freshFor.map { models.promise(for: $0, from: start) }
  }
}
