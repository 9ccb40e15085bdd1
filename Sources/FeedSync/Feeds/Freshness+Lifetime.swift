import HTTPClient

extension Freshness {
  /// Returns the seconds after an answer within which no request is needed; nil if nothing was
  /// promised.
  ///
  /// - Parameters:
  ///   - timeToLive: The seconds in the document itself.
  ///   - isOwn: True for homefeed/1, whose server may be asked more often.
  static func lifetime(_ promise: Promise, timeToLive: Int64?, isOwn: Bool) -> Int64? {
    var seconds = timeToLive ?? 0
    if case .seconds(let promised) = promise { seconds = max(seconds, Int64(promised)) }
    guard seconds > 0 else { return nil }
    return min(max(seconds, isOwn ? Limits.ownFreshMin : Limits.freshMin), Limits.freshMax)
  }
}
