import Foundation
import TestSupport

/// Starts processes whose changes of a folder are recorded.
struct Recorder: Sendable {
  struct Failed: Error, CustomStringConvertible { let description: String }

  /// The recorded folder, without symbolic links.
  let root: String
  private let library: PreloadedLibrary
  private let log: String

  /// - Returns: `nil` without a C compiler.
  init?(in folder: TemporaryFolder) throws {
    guard let library = try PreloadedLibrary("record_shim", in: folder) else { return nil }
    guard let path = realpath(folder.path, nil) else {
      throw Failed(description: "\(folder.path) has no real path")
    }
    defer { free(path) }
    self.library = library
    root = String(cString: path) + "/recorded"
    log = folder.path("log")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
  }

  /// The path of a file or folder in the recorded folder.
  func path(_ name: String) -> String { root + "/" + name }

  /// Starts a command of `store-child`.
  ///
  /// - Parameter isKilled: True to kill the process in place of its first flush.
  func start(_ arguments: [String], isKilled: Bool = false) throws -> ChildProcess {
    var environment = [
      "LD_PRELOAD": library.path, "MOORING_RECORD_FOLDER": root, "MOORING_RECORD_LOG": log,
    ]
    if isKilled { environment["MOORING_RECORD_KILL"] = "1" }
    return try ChildProcess(
      childExecutable(named: "store-child"), arguments, environment: environment)
  }

  /// Runs a command of `store-child` to its end.
  ///
  /// - Parameter input: Lines for it.
  /// - Returns: The lines that it has written.
  @discardableResult
  func run(_ arguments: [String], input: [String] = []) throws -> [String] {
    let child = try start(arguments)
    for line in input { try child.writeLine(line) }
    var lines: [String] = []
    while let line = child.readLine() { lines.append(line) }
    guard child.waitForExit() == ChildProcess.Exit(status: 0, wasSignal: false) else {
      throw Failed(description: "\(arguments): \(lines.suffix(3)) \(child.readErrors())")
    }
    return lines
  }

  /// Runs a command of `store-child` until its first flush, in whose place it is killed.
  func runUntilFlush(_ arguments: [String]) throws {
    let exit = try start(arguments, isKilled: true).waitForExit()
    guard exit == ChildProcess.Exit(status: SIGKILL, wasSignal: true) else {
      throw Failed(description: "\(arguments) was not killed: \(exit)")
    }
  }

  func recording() throws -> Recording { try Recording(of: log) }
}
