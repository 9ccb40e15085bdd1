import Foundation
import Glibc
import SystemSupport
import TestSupport

/// A server that ends with the test process, however that ends: a shell waits for the end of a pipe
/// that only this process holds, then stops the server and removes its folder.
final class SupervisedProcess: Sendable {
  private let shell = SpawnedProcess()
  private let life: FileHandle
  private let lines: Locked<[String]>

  struct StartError: Error, CustomStringConvertible {
    let description: String
  }

  private static let script = """
    trap '' INT TERM HUP
    folder=$1 signal=$2
    shift 2
    cd "$folder" || exit 1
    "$@" </dev/null &
    exec 2>/dev/null
    read -r _
    kill -s "$signal" $!
    wait $!
    rm -rf "$folder"
    """

  /// Starts the server and waits until it writes a line that contains `ready` to standard error.
  ///
  /// - Parameters:
  ///   - folder: Its working folder, which is removed at the end.
  ///   - signal: The name of the signal that ends it at once.
  init(_ command: [String], folder: String, ready: String, endedBy signal: String) throws {
    let (input, output) = (Pipe(), Pipe())
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", Self.script, "supervisor", folder, signal] + command
    shell.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"]
    shell.standardInput = input
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = output
    try shell.run()
    life = input.fileHandleForWriting
    lines = Locked([])
    try waitForLine(ready, in: output.fileHandleForReading)
  }

  deinit { stop() }

  /// Stops the server and waits until its folder is removed.
  func stop() {
    close(life)
    shell.waitUntilExit()
  }

  private func close(_ handle: FileHandle) {
    // A second call finds it closed.
    try? handle.close()
  }

  private func waitForLine(_ ready: String, in output: FileHandle) throws {
    let isReady = DispatchSemaphore(value: 0)
    let wasSeen = Locked(false)
    // The thread goes on reading: a server whose pipe is full would stop.
    let lines = lines
    Thread.detachNewThread {
      var pending = Data()
      while case let part = output.availableData, !part.isEmpty {
        pending.append(part)
        while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: pending[..<end], as: UTF8.self)
          pending = Data(pending[(end + 1)...])
          lines.withLock { $0 = $0.suffix(99) + [line] }
          guard line.contains(ready) else { continue }
          wasSeen.withLock { $0 = true }
          isReady.signal()
        }
      }
      isReady.signal()
    }
    isReady.wait()
    guard wasSeen.withLock({ $0 }) else {
      stop()
      throw StartError(description: lines.withLock { $0.joined(separator: "\n") })
    }
  }
}
