public import ArgumentParser
public import EntityStore
import Foundation
public import LMDB
public import StrictYAML

/// An error that knows how a command ends because of it.
public protocol ExitStatusProviding: Error {
  var exitStatus: ExitStatus { get }
}

/// Runs a command as a process: one line on stderr for an error, and the status for its kind.
public enum CommandLineEntry {
  public static func run(_ root: (some AsyncParsableCommand).Type) async -> Never {
    do {
      var command = try root.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      exit(ExitStatus.success.rawValue)
    } catch let error as any ExitStatusProviding {
      FileHandle.standardError.write(Data("mooring: \(error)\n".utf8))
      exit(error.exitStatus.rawValue)
    } catch let error as CocoaError {
      FileHandle.standardError.write(Data("mooring: \(error.localizedDescription)\n".utf8))
      exit(ExitStatus.inputOutput.rawValue)
    } catch {
      // Usage, help and version, and the status that a command ends with on purpose.
      root.exit(withError: error)
    }
  }
}

extension OutputError: ExitStatusProviding {
  public var exitStatus: ExitStatus { .inputOutput }
}

extension YAMLError: ExitStatusProviding {
  public var exitStatus: ExitStatus { .configuration }
}

extension LMDBError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .storeMissing: .unavailable
    case .notAFolder: .cannotCreate
    case .permission: .notPermitted
    case .diskFull, .inputOutput, .mapFull: .inputOutput
    case .damaged, .notAStore: .badData
    case .busy, .readersFull: .tryAgain
    default: .inputOutput
    }
  }
}

extension StoreError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .storeMissing: .unavailable
    case .notAStore, .damaged: .badData
    case .newerFormat, .schemaMismatch, .needsMigration, .newerSchema, .migration: .configuration
    case .unknownEntity, .unknownAttribute, .invalidRequest, .requiresIndex: .usage
    case .validation, .uniqueViolation: .badData
    case .missingRecord: .unavailable
    case .storage: underlying?.exitStatus ?? .inputOutput
    }
  }
}
