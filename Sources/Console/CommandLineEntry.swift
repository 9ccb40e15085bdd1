public import ArgumentParser
internal import Dispatch
public import EntityStore
import Foundation
public import StrictYAML

/// An error that has an exit status.
public protocol ExitStatusProviding: Error {
  var exitStatus: ExitStatus { get }
}

/// Runs a command as a process. An error is printed as one line on stderr and decides the status.
public enum CommandLineEntry {
  /// Runs the command of this process's arguments. To be called first in a synchronous `main`:
  /// that of an asynchronous program begins when the runtime has opened files and started threads.
  public static func run<Root: AsyncParsableCommand & SendableMetatype>(_ root: Root.Type) -> Never
  {
    do throws(CommandError) {
      try ProcessResources.prepare()
    } catch {
      end(root, error)
    }
    Task.detached { await runCommand(of: root) }
    dispatchMain()
  }

  private static func runCommand(of root: (some AsyncParsableCommand).Type) async -> Never {
    do {
      let arguments = Array(CommandLine.arguments.dropFirst())
      if let shell = CompletionScript.requestedShell(arguments) {
        try StandardOutput.with { try $0.write(CompletionScript(root, for: shell).text) }
        exit(ExitStatus.success.rawValue)
      }
      try Version.validate(arguments)
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
      // The place comes first, as in the messages of compilers, so that editors can jump to it.
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
    case ExitStatus.needsAttention.exitCode where error is ExitCode:
      exit(ExitStatus.needsAttention.rawValue)
    case .validationFailure:
      explainUsage(root, error)
      exit(ExitStatus.usage.rawValue)
    case .failure:
      // An error without a known kind.
      Message.say("\(error)")
      exit(ExitStatus.inputOutput.rawValue)
    default:
      // Help, version, and the status that a command ends with on purpose.
      do {
        let text = root.fullMessage(for: error)
        if !text.isEmpty { try StandardOutput.with { try $0.write(text + "\n") } }
      } catch {
        end(root, error)
      }
      exit(root.exitCode(for: error).rawValue)
    }
  }

  /// Prints the mistake on the first line, then the usage.
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

extension StoreError: ExitStatusProviding {
  public var exitStatus: ExitStatus {
    switch code {
    case .storeMissing: .unavailable
    case .notAStore, .damaged, .diverged: .badData
    case .newerFormat, .schemaMismatch, .needsMigration, .newerSchema, .migration,
      .needsCommitLog:
      .configuration
    case .unknownEntity, .unknownAttribute, .unknownRelationship, .unknownTemplate: .usage
    case .invalidRequest, .requiresIndex: .usage
    case .validation, .uniqueViolation, .deletionDenied, .seed: .badData
    case .missingRecord: .unavailable
    case .snapshotExpired, .conflict, .closed: .tryAgain
    case .invalidToken, .expiredToken: .badData
    case .occupied, .notAFolder: .cannotCreate
    case .readOnly, .notPermitted: .notPermitted
    case .busy, .readersFull, .unreachable: .tryAgain
    case .diskFull, .mapFull, .inputOutput, .storage, .unknownOutcome: .inputOutput
    case .notHereYet: .notHereYet
    }
  }
}
