public import Foundation
import Glibc

/// The path of an executable of this package, which the build puts next to the test bundle.
public func childExecutable(named name: String) -> URL {
  // swift-testing's runner names the bundle in its arguments or is the bundle; both lie in the
  // build folder.
  let candidates = CommandLine.arguments + [Bundle.main.executablePath ?? ""]
  for candidate in candidates where candidate.hasPrefix("/") {
    var folder = URL(fileURLWithPath: candidate)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let executable = folder.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      if FileManager.default.fileExists(atPath: executable.path, isDirectory: &isFolder),
        !isFolder.boolValue, FileManager.default.isExecutableFile(atPath: executable.path)
      {
        return executable
      }
    }
  }
  preconditionFailure("\(name) is not built: add it to the dependencies of the test target")
}

/// A process of the test's own, spoken with in lines.
///
/// For use by one thread at a time.
public final class ChildProcess {
  public struct Exit: Sendable, Equatable {
    /// The exit code, or the signal's number.
    public let status: Int32
    public let wasSignal: Bool

    public init(status: Int32, wasSignal: Bool) {
      self.status = status
      self.wasSignal = wasSignal
    }
  }

  public let process = SpawnedProcess()
  private let output = Pipe()
  private let errors = Pipe()
  private let input = Pipe()
  private var pending = Data()

  /// Starts the executable.
  ///
  /// - Parameter environment: added to that of the test.
  public init(
    _ executable: URL, _ arguments: [String], environment: [String: String] = [:]
  ) throws {
    process.executableURL = executable
    process.arguments = arguments
    // Without this, a crash that a test wants is followed by seconds of symbol search.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_BACKTRACE": "enable=no"]) { _, new in new }
      .merging(environment) { _, new in new }
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = input
    try process.run()
  }

  public var pid: Int32 { process.processIdentifier }

  /// The next line of standard output without its end, or nil at the end. Waits for it.
  public func readLine() -> String? {
    while true {
      if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: pending[..<end], as: UTF8.self)
        pending = Data(pending[(end + 1)...])
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty {
        defer { pending = Data() }
        return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
      }
      pending.append(more)
    }
  }

  /// Sends a line to standard input.
  public func writeLine(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Closes the child's standard input, which signals the end of the test.
  public func closeInput() throws { try input.fileHandleForWriting.close() }

  /// Sends a signal.
  public func signal(_ number: Int32) { Glibc.kill(pid, number) }

  /// Kills the process (SIGKILL) and waits for its end.
  @discardableResult
  public func kill() -> Exit {
    signal(SIGKILL)
    return waitForExit()
  }

  @discardableResult
  public func waitForExit() -> Exit {
    process.waitUntilExit()
    return Exit(
      status: process.terminationStatus, wasSignal: process.terminationReason == .uncaughtSignal)
  }

  /// Everything on standard error that was not read yet. Waits for the end of the process, which
  /// must not write more than a pipe holds (64 KiB) before that.
  public func readErrors() -> String {
    String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
