public import ArgumentParser
public import EntityStore
import Foundation
public import StrictYAML
public import SystemSupport

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
    } catch {
      end(root, error)
    }
  }

  private static func end(_ root: any ParsableCommand.Type, _ error: any Error) -> Never {
    switch error {
    case let error as YAMLError:
      // The place comes first, as editors and compilers have it.
      Message.write("\(error)".singleLine)
      exit(error.exitStatus.rawValue)
    case let error as PlacedError:
      Message.say("\(error)")
      for line in error.excerpt { Message.write(line) }
      exit(error.exitStatus.rawValue)
    case let error as any ExitStatusProviding:
      Message.say("\(error)")
      exit(error.exitStatus.rawValue)
    case let error as CocoaError:
      Message.say(error.localizedDescription)
      exit(ExitStatus.inputOutput.rawValue)
    default: break
    }
    switch root.exitCode(for: error) {
    case .validationFailure:
      explainUsage(root, error)
      exit(ExitStatus.usage.rawValue)
    case .failure:
      // An error of no kind that is known here.
      Message.say("\(error)")
      exit(ExitStatus.inputOutput.rawValue)
    default:
      // Help, version, and the status that a command ends with on purpose.
      root.exit(withError: error)
    }
  }

  /// What is wrong in the first line, then how it should be.
  private static func explainUsage(_ root: any ParsableCommand.Type, _ error: any Error) {
    var lines = root.fullMessage(for: error).split(separator: "\n").map { String($0).singleLine }
    if let verb = UnknownVerb(in: root, Array(CommandLine.arguments.dropFirst())) {
      Message.say(verb.description)
    } else {
      let label = "Error: "
      let first = lines.first ?? ""
      Message.say(first.hasPrefix(label) ? String(first.dropFirst(label.count)) : first)
    }
    if !lines.isEmpty { lines.removeFirst() }
    for line in lines { Message.write(line) }
  }
}

extension OutputError: ExitStatusProviding {
  public var exitStatus: ExitStatus { .inputOutput }
}

extension YAMLError: ExitStatusProviding {
  public var exitStatus: ExitStatus { .configuration }
}

extension StorageError: ExitStatusProviding {
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
    case .unknownEntity, .unknownAttribute, .unknownRelationship, .unknownTemplate: .usage
    case .invalidRequest, .requiresIndex: .usage
    case .validation, .uniqueViolation, .deletionDenied, .seed: .badData
    case .missingRecord: .unavailable
    case .snapshotExpired, .conflict, .closed: .tryAgain
    case .invalidToken, .expiredToken: .badData
    case .occupied: .cannotCreate
    case .storage: underlying?.exitStatus ?? .inputOutput
    }
  }
}
