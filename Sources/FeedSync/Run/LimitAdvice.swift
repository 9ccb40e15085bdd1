import HTTPClient

/// The advice on an answer that exceeds a limit of its feed: the double of it.
struct LimitAdvice {
  private let request: HTTPRequest
  private let command: String?

  /// - Parameter command: The command that changes the limits; nil for the one that is running.
  init(_ request: HTTPRequest, command: String?) {
    self.request = request
    self.command = command
  }

  /// Returns the advice; nil for another error, and for a limit that cannot be raised.
  func text(on error: HTTPError) -> String? {
    switch error.code {
    case .tooLarge:
      let (limit, most) = (Int64(request.decodedBytesMax), Feeds.Settings.sizeLimits.upperBound)
      guard limit < most else { return nil }
      let change = change("--size-limit", Self.size(limit), Self.size(min(limit * 2, most)))
      return "check that the URL is a feed, or \(change)"
    case .timeout where error.isAtTimeLimit:
      let (limit, most) = (request.timeout.components.seconds, Feeds.Settings.timeLimits.upperBound)
      guard limit < most else { return nil }
      let change = change("--time-limit", Self.time(limit), Self.time(min(limit * 2, most)))
      return "try again later, or \(change)"
    default: return nil
    }
  }

  private func change(_ option: String, _ limit: String, _ double: String) -> String {
    let words = [command, option, double].compactMap { $0 }.joined(separator: " ")
    return "raise the limit of \(limit) with `\(words)`"
  }

  private static func size(_ bytes: Int64) -> String {
    text(bytes, in: [("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)]) ?? String(bytes)
  }

  private static func time(_ seconds: Int64) -> String {
    text(seconds, in: [("h", 3_600), ("m", 60)]) ?? "\(seconds)s"
  }

  /// Returns the value in the largest unit that it is a multiple of; nil if there is none.
  private static func text(_ value: Int64, in units: [(name: String, size: Int64)]) -> String? {
    units.first { value % $0.size == 0 }.map { "\(value / $0.size)\($0.name)" }
  }
}
