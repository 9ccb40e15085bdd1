import Foundation
import HTTPClient

/// Permanent redirects. A captive portal sends them too, so that one is not enough.
extension Feed {
  /// Takes note of where an answer came from that was a valid document.
  ///
  /// - Parameter target: Where redirects led that were permanent all along the way; nil when there
  ///   was none, or one that was not.
  mutating func observe(moveTo target: String?, at now: Date) {
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
    let isProven = movedCount >= Limits.movesMin && age >= Limits.movedAgeMin
    guard isProven || Self.isUpgrade(from: requestURL, to: target) else { return }
    learnedURL = target
    forgetMove()
  }

  /// The learned URL has failed. Gone or missing, or giving no feed again and again, it is forgotten,
  /// and the one that was typed is asked again. One that differs only in being secure is given up only
  /// when it is gone or missing.
  ///
  /// - Parameter error: Why; nil for what says nothing of the URL, such as a network that is down.
  /// - Returns: Whether it was forgotten.
  mutating func doubtLearnedURL(_ error: SyncError?) -> Bool {
    guard let learnedURL, let error else { return false }
    let status = error.refusal?.status
    if status != 404, status != 410 {
      guard error.isAgainstURL, !Self.isUpgrade(from: url, to: learnedURL) else { return false }
      learnedErrors += 1
      guard learnedErrors >= Limits.learnedErrorsMax else { return false }
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

  /// From http to https of the same host: nobody else can have sent it somewhere.
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
  /// Whether the server has answered as one does that has not the feed. A wait, or a secret that is
  /// missing, says nothing of where the feed is.
  fileprivate var isAgainstURL: Bool {
    switch code {
    case .badStatus: refusal?.status != 401 && refusal?.status != 403
    case .notFound, .badDocument, .unaskedNotModified: true
    default: false
    }
  }
}

extension HTTPResponse {
  /// Where permanent redirects led, all along the way; nil otherwise, and for HTML, which a portal
  /// or a page about the move would be.
  var permanentTarget: String? {
    guard let last = redirects.last, redirects.allSatisfy({ $0.status == 301 || $0.status == 308 }),
      header("Content-Type")?.lowercased().contains("html") != true
    else { return nil }
    return last.to
  }
}
