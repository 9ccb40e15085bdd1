import Dispatch
import Foundation
import TestSupport
import Testing

/// One run of a command as a process, to its end.
struct ToolRun {
  /// The exit code; of a process that a signal ended, the signal's number negated.
  let status: Int32
  let output: String
  let errors: String

  /// Lines on standard error without those of usage.
  var messages: [String] {
    errors.split(separator: "\n").map(String.init)
      .filter { !$0.hasPrefix("Usage:") && !$0.hasPrefix("  See ") && !$0.hasPrefix("Help:") }
  }

  var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// The time after which a command counts as hung.
private let hangSeconds = 300.0

/// Runs a command of this package and waits for its end.
///
/// - Parameter store: The folder of the store.
/// - Throws: an error if the process cannot be started or has to be killed.
func run(
  _ tool: String, _ arguments: [String], store: String, environment: [String: String] = [:]
) throws -> ToolRun {
  try StartedTool(tool, arguments, store: store, environment: environment).finish()
}

/// Runs a command in a script of the shell, in which it is `"$@"`.
func run(
  _ tool: String, _ arguments: [String], in script: String, store: String
) throws -> ToolRun {
  try StartedTool(tool, arguments, in: script, store: store).finish()
}

func mooring(
  _ arguments: String..., store: String, environment: [String: String] = [:]
) throws -> ToolRun {
  try run("mooring", arguments, store: store, environment: environment)
}

func mooringDump(
  _ arguments: String..., store: String, environment: [String: String] = [:]
) throws -> ToolRun {
  try run("mooring-dump", arguments, store: store, environment: environment)
}

/// A command that runs. What it prints goes to files, so that no pipe can fill.
final class StartedTool: Sendable {
  struct Hangs: Error, CustomStringConvertible { let description: String }

  private let process = SpawnedProcess()
  private let folder: TemporaryFolder
  private let ended = DispatchSemaphore(value: 0)
  private let name: String

  init(
    _ tool: String, _ arguments: [String], in script: String? = nil, store: String,
    environment: [String: String] = [:]
  ) throws {
    folder = try TemporaryFolder(named: "tool-run")
    name = ([tool] + arguments).joined(separator: " ")
    let executable = childExecutable(named: tool)
    process.executableURL = script == nil ? executable : URL(fileURLWithPath: "/bin/sh")
    process.arguments =
      script.map { ["-c", $0, "sh", executable.path] + arguments } ?? arguments
    // No variable of the machine may choose another store, and a crash needs no backtrace.
    process.environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder.path,
      "MOORING_STORE": store, "SWIFT_BACKTRACE": "enable=no",
    ].merging(sanitizerVariables) { old, _ in old }.merging(environment) { _, new in new }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try file("output")
    process.standardError = try file("errors")
    let ended = ended
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
  }

  deinit { folder.remove() }

  var pid: Int32 { process.processIdentifier }

  /// Waits until the command has written something to standard error, or has ended.
  func waitForError(_ part: String) throws {
    let deadline = ContinuousClock.now + .seconds(hangSeconds)
    while try !text("errors").contains(part) {
      if ended.wait(timeout: .now() + .milliseconds(1)) == .success {
        ended.signal()
        return
      }
      if ContinuousClock.now > deadline {
        throw Hangs(description: "`\(name)` did not say \"\(part)\" within \(hangSeconds) s")
      }
    }
  }

  /// The variant of `finish` for a command that waits for what this process does: its threads stay
  /// free.
  func finished() async throws -> ToolRun {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { [self] in continuation.resume(with: Result { try finish() }) }
    }
  }

  func finish() throws -> ToolRun {
    if ended.wait(timeout: .now() + hangSeconds) == .timedOut {
      kill(pid, SIGKILL)
      ended.wait()
      throw Hangs(description: "`\(name)` did not end within \(hangSeconds) s")
    }
    let isSignal = process.terminationReason == .uncaughtSignal
    return ToolRun(
      status: isSignal ? -process.terminationStatus : process.terminationStatus,
      output: try text("output"), errors: try text("errors"))
  }

  private func file(_ name: String) throws -> FileHandle {
    let path = folder.path(name)
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder.path(name))), as: UTF8.self)
  }
}

/// Expects a failure that is reported in one line.
func expectFailure(
  _ run: ToolRun, _ status: Int32, _ parts: String..., tool: String = "mooring",
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(run.status == status, "\(run.errors)", sourceLocation: sourceLocation)
  #expect(run.messages.count == 1, "\(run.errors)", sourceLocation: sourceLocation)
  let message = run.messages.first ?? ""
  #expect(message.hasPrefix("\(tool): "), "\(message)", sourceLocation: sourceLocation)
  for part in parts {
    #expect(message.contains(part), "\(message)", sourceLocation: sourceLocation)
  }
}
