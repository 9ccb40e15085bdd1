import Foundation
import HTTPClient
import SystemSupport

@testable import FeedSync

/// A scripted network: for each URL the responses to send, one after the other.
///
/// The last answer of a URL is given again and again. A URL that is not in the script is an error
/// that names it.
final class ScriptedTransport: HTTPTransport {
  /// The scripted result of one request.
  enum Answer: Sendable {
    case response(
      status: Int, headers: [(String, String)] = [], body: [UInt8] = [], retryAfter: Int? = nil,
      effectiveURL: String? = nil, redirects: [HTTPResponse.Redirect] = [],
      isFromPrivateAddress: Bool = false, isHostPublic: Bool = false)
    case failure(any Error)

    static func page(_ text: String, _ headers: (String, String)...) -> Answer {
      .response(status: 200, headers: headers, body: Array(text.utf8))
    }

    static func status(_ status: Int, _ headers: (String, String)...) -> Answer {
      .response(status: status, headers: headers)
    }
  }

  struct Unscripted: Error {
    let url: String
  }

  private struct State {
    var script: [String: [Answer]] = [:]
    var requests: [HTTPRequest] = []
    var requestsLeft = Int.max
    var beforeAnswer: (@Sendable (HTTPRequest) async throws -> Void)?
  }

  private let state = Locked(State())

  /// Replaces what is answered to a URL.
  func script(_ url: String, _ answers: Answer...) {
    state.withLock { $0.script[url] = answers }
  }

  /// The number of further requests before the network fails.
  func failAfter(_ count: Int) { state.withLock { $0.requestsLeft = count } }

  func heal() { state.withLock { $0.requestsLeft = .max } }

  /// Runs while a request is under way, before it is answered.
  func beforeAnswer(_ body: (@Sendable (HTTPRequest) async throws -> Void)?) {
    state.withLock { $0.beforeAnswer = body }
  }

  /// The requests since the last call, oldest first.
  func takeRequests() -> [HTTPRequest] {
    state.withLock { state in
      defer { state.requests = [] }
      return state.requests
    }
  }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let (answer, before) = state.withLock { state -> (Answer, _) in
      state.requests.append(request)
      guard state.requestsLeft > 0 else {
        return (.failure(HTTPError(.unreachable, request.url)), state.beforeAnswer)
      }
      state.requestsLeft -= 1
      guard var answers = state.script[request.url], let first = answers.first else {
        return (.failure(Unscripted(url: request.url)), state.beforeAnswer)
      }
      if answers.count > 1 { answers.removeFirst() }
      state.script[request.url] = answers
      return (first, state.beforeAnswer)
    }
    try await before?(request)
    switch answer {
    case .failure(let error): throw error
    case .response(
      let status, let headers, let body, let retryAfter, let effectiveURL, let redirects,
      let isFromPrivateAddress, let isHostPublic):
      return HTTPResponse(
        status: status, headers: headers.map { (name: $0.0, value: $0.1) },
        body: PaddedBytes(body), effectiveURL: effectiveURL ?? redirects.last?.to ?? request.url,
        redirects: redirects, wireBytes: body.count, retryAfter: retryAfter,
        isFromPrivateAddress: isFromPrivateAddress, isHostPublic: isHostPublic)
    }
  }
}

extension HTTPRequest {
  /// Returns the value of a header as it is sent to the request's own URL.
  func header(_ name: String) -> String? {
    let conditions = conditions.flatMap { $0.wereSent(to: url) ? $0.headers : nil } ?? []
    return (headers + secretHeaders + conditions).first {
      $0.name.lowercased() == name.lowercased()
    }?.value
  }
}
