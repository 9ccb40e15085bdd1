public import Console
public import FeedSync
public import HTTPClient
public import HomeFeed
package import StoreTables

extension SyncError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .unknownFeed, .gone, .notFound, .refused, .missingSecret: .unavailable
    case .invalidFeed: .usage
    case .paused, .busy, .waiting, .badStatus: .tryAgain
    case .badDocument, .unaskedNotModified, .tooManyRejected, .nothingUsable, .emptied,
      .repeatedPage, .tooManyPages, .foreignPage:
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
    case .tooLarge, .headerTooLarge, .badEncoding, .protocolViolation, .badRedirect,
      .tooManyRedirects:
      .badData
    case .refusedAddress, .insecureRedirect: .notPermitted
    default: .tryAgain
    }
  }
}

extension ContentStoreError: ExitStatusProviding {
  public var exitStatus: ExitStatus { .usage }
}

extension TablesError: ExitStatusProviding {
  package var exitStatus: ExitStatus {
    switch code {
    case .elsewhere, .busy: .tryAgain
    case .noTables, .unknownRole: .unavailable
    case .noHistory, .reservedName, .encoding, .occupied, .inUse: .configuration
    case .permission: .notPermitted
    case .refused: .badData
    }
  }
}
