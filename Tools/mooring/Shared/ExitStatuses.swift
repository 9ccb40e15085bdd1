public import Console
public import FeedSync
public import HTTPClient
public import HomeFeed

extension SyncError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .unknownFeed, .gone, .notFound, .missingToken: .unavailable
    case .invalidFeed: .usage
    case .paused, .busy, .waiting, .badStatus, .unaskedNotModified: .tryAgain
    case .badDocument, .tooManyRejected, .emptied, .repeatedPage, .tooManyPages, .foreignPage:
      .badData
    case .missingTarget: .configuration
    case .notPermitted, .privateAddress: .notPermitted
    case .inputOutput: .inputOutput
    }
  }
}

extension HTTPError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .invalidURL, .unsupportedProtocol, .invalidHeader: .usage
    case .tooLarge, .badEncoding, .protocolViolation: .badData
    case .refusedAddress, .insecureRedirect: .notPermitted
    default: .tryAgain
    }
  }
}

extension ContentStoreError: ExitStatusProviding {
  public var exitStatus: ExitStatus { .usage }
}
