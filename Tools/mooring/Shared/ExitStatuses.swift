public import Console
public import FeedSync
import Glibc
public import HTTPClient
public import HomeFeed
package import StoreTables
package import SystemSupport

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
    case .libraryMissing: .unavailable
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

extension PartialFile.Failure: ExitStatusProviding, CustomStringConvertible {
  package var exitStatus: ExitStatus {
    switch reason {
    case .exists, .notAFile: .cannotCreate
    case .busy: .tryAgain
    case .system(let error) where error.isPermissionDenied || error.number == EROFS: .notPermitted
    case .system(let error)
    where [ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG].contains(error.number):
      .cannotCreate
    case .system: .inputOutput
    }
  }

  package var description: String {
    switch reason {
    case .exists: "\"\(path)\" exists already; name another file, or replace it: --force"
    case .notAFile: "\"\(path)\" is no regular file; name another one"
    case .busy: "another process is writing \"\(path)\"; wait for its end, or name another file"
    case .system(let error):
      "\"\(path)\" cannot be written: \(error.text); name another file, or make room"
    }
  }
}
