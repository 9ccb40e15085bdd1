import Foundation
import Glibc
import SystemSupport

/// A child whose output is read by a separate thread: a test that waits for a line does not block
/// other tests, and a child with much output does not block.
package final class ReportingChild: @unchecked Sendable {
  // SAFETY (`@unchecked Sendable`): what reads belongs to the reading thread; the rest of a child
  // is its number and its streams, which do not change.

  private static let executable = childExecutable(named: "store-child")

  private let child: ChildProcess
  private let lines: AsyncStream<String>
  private let said: Said

  package init(
    _ command: String, _ folder: String, _ settings: [String] = [],
    environment: [String: String] = [:]
  ) throws {
    // To write to a child that has died is an error of the test, and not the end of all tests.
    Glibc.signal(SIGPIPE, SIG_IGN)
    let child = try ChildProcess(
      Self.executable, [command, folder] + settings, environment: environment)
    let (lines, continuation) = AsyncStream<String>.makeStream()
    let said = Said()
    self.child = child
    self.lines = lines
    self.said = said
    // SAFETY: as above.
    nonisolated(unsafe) let output = child
    Thread.detachNewThread {
      while let line = output.readLine() {
        said.add(line)
        continuation.yield(line)
      }
      continuation.finish()
    }
  }

  /// Its output so far.
  package var all: [String] { said.all }

  /// Waits for a line that begins so; what comes before it is passed over.
  ///
  /// - Returns: `nil` if the child ends without it.
  @discardableResult
  package func wait(for prefix: String = "") async -> String? {
    for await line in lines where line.hasPrefix(prefix) { return line }
    return nil
  }

  package func say(_ line: String) throws { try child.writeLine(line) }

  package func signal(_ number: Int32) { child.signal(number) }

  /// Waits until the child has ended, and has been read to its end.
  package func exit() async -> ChildProcess.Exit {
    while await wait() != nil {}
    return child.waitForExit()
  }

  /// Returns what the child wrote to stderr. Waits until it has ended.
  package func errors() -> String { child.readErrors() }

  @discardableResult
  package func kill() async -> ChildProcess.Exit {
    signal(SIGKILL)
    return await exit()
  }
}

private final class Said: Sendable {
  private let lines = Locked<[String]>([])

  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}
