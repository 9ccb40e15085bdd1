import Foundation
import HTTPClient

// Permanent redirects. A captive portal sends them too, so one is not enough.
extension Feed {
  /// Records the redirects of an answer with a valid document. Changes the feed's URL if they are
  /// proven.
  ///
  /// - Parameter target: The target of redirects that were all permanent; nil if there was none, or
  ///   a temporary one.
  mutating func recordRedirect(to target: String?, at now: Date) {
    guard let target, !WebURL.isSame(target, requestURL) else {
      return forgetMove()
    }
    if movedTo != target {
      forgetMove()
      movedTo = target
      movedSince = now
    }
    movedCount += 1
    let age = movedSince.map { now.timeIntervalSince($0) } ?? 0
    let isProven = movedCount >= SyncLimits.movesMin && age >= SyncLimits.movedAgeMin
    guard isProven || Self.isUpgrade(from: requestURL, to: target) else { return }
    learnedURL = target
    forgetMove()
  }

  /// Drops the redirect's URL if it is gone or missing, or has failed repeatedly, so that the
  /// operator's URL is requested again. One that differs only in using https is dropped only if it
  /// is gone or missing.
  ///
  /// - Parameter error: The failure; nil for one that does not depend on the URL, such as a network
  ///   that is down.
  /// - Returns: True if it was dropped.
  mutating func dropFailingRedirect(_ error: SyncError?) -> Bool {
    guard let learnedURL, let error else { return false }
    let status = error.refusal?.status
    if status != 404, status != 410 {
      guard error.isAgainstURL, !Self.isUpgrade(from: url, to: learnedURL) else { return false }
      learnedErrors += 1
      guard learnedErrors >= SyncLimits.learnedErrorsMax else { return false }
    }
    self.learnedURL = nil
    learnedErrors = 0
    forgetMove()
    return true
  }

  private mutating func forgetMove() {
    movedTo = nil
    movedCount = 0
    movedSince = nil
  }

  /// Returns true for a change from http to https on the same host.
  private static func isUpgrade(from old: String, to new: String) -> Bool {
    do {
      let (old, new) = (try WebURL(old).origin, try WebURL(new).origin)
      return old.scheme == "http" && new.scheme == "https" && old.host == new.host
    } catch {
      return false
    }
  }
}

extension SyncError {
  /// True if the answer shows that the server does not have the feed. A wait or a missing secret do
  /// not.
  fileprivate var isAgainstURL: Bool {
    switch code {
    case .refused: refusal?.status != 401 && refusal?.status != 403
    case .notFound, .badStatus, .badDocument, .unaskedNotModified: true
    default: false
    }
  }
}

extension HTTPResponse {
  /// The target of redirects that were all permanent. Nil for HTML, which a captive portal or a
  /// page about the move would be.
  var permanentTarget: String? {
    guard let last = redirects.last, redirects.allSatisfy({ $0.status == 301 || $0.status == 308 }),
      header("Content-Type")?.lowercased().contains("html") != true
    else { return nil }
    return last.to
  }
}
