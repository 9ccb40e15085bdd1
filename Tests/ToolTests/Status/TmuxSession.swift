import Foundation
import TestSupport

/// A terminal of 80 columns and 24 rows with a shell, run by tmux without a user.
struct TmuxSession {
  struct Missing: Error, CustomStringConvertible { let description: String }

  static let isInstalled = ["/usr/bin/tmux", "/bin/tmux", "/usr/local/bin/tmux"].contains {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  let folder: TemporaryFolder
  private let store: String

  /// Runs a body with a session whose shell has `MOORING_STORE`, and ends the session.
  static func with<R>(
    store: String, isolation: isolated (any Actor)? = #isolation,
    _ body: (TmuxSession) async throws -> R
  ) async throws -> R {
    try await withTemporaryFolder { folder in
      let session = TmuxSession(folder: folder, store: store)
      try session.tmux(
        "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "env", "PS1=shell> ",
        "sh")
      let result: R
      do {
        _ = try session.wait(for: "shell>")
        result = try await body(session)
      } catch {
        try session.tmux("kill-server")
        throw error
      }
      try session.tmux("kill-server")
      return result
    }
  }

  /// Types the names of keys: `Enter`, `C-z`, `f`.
  func press(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

  /// Types a command line of the shell.
  func type(_ line: String) throws {
    try tmux("send-keys", "-l", line)
    try press("Enter")
  }

  /// Types a command line whose first word is the program `mooring`. Its process is in `pid`.
  func typeMooring(_ words: String, environment: String = "") throws {
    let program = childExecutable(named: "mooring").path
    try type(
      "\(environment) sh -c 'echo $$ >\(folder.path("pid")); exec \(program) \(words)'; "
        + "echo ended with $?.")
  }

  func resize(columns: Int, rows: Int) throws {
    try tmux("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  func screen() throws -> [String] {
    try tmux("capture-pane", "-p").components(separatedBy: "\n").dropLast()
  }

  /// Waits until a line has a text.
  func wait(for text: String) throws -> [String] {
    try wait(for: text) { $0.contains { $0.contains(text) } }
  }

  func wait(for what: String, _ isThere: ([String]) -> Bool) throws -> [String] {
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      let lines = try screen()
      if isThere(lines) { return lines }
      if ContinuousClock.now > deadline {
        throw Missing(description: "no \(what) in:\n" + lines.joined(separator: "\n"))
      }
    }
  }

  /// The settings of the terminal, as the shell sees them now.
  func settings() throws -> String {
    let (path, done) = (folder.path("settings"), "settings-\(UUID().uuidString)")
    try type("clear; stty -a >\(path); echo \(done)")
    _ = try wait(for: done) { $0.contains(done) }
    return try String(contentsOfFile: path, encoding: .utf8)
  }

  @discardableResult private func tmux(_ arguments: String...) throws -> String {
    try tmux(arguments)
  }

  @discardableResult private func tmux(_ arguments: [String]) throws -> String {
    let words = (["tmux", "-S", folder.path("socket")] + arguments).map {
      "'" + $0.replacing("'", with: #"'\''"#) + "'"
    }
    let run = try run("mooring", [], in: words.joined(separator: " "), store: store)
    guard run.status == 0 else { throw Missing(description: "\(arguments): \(run.errors)") }
    return run.output
  }
}
