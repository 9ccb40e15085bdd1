import Foundation
import Glibc
import SystemSupport

/// A primary server with a streaming standby. After the end of the primary the standby takes its
/// place, and a new standby the place of that one.
package final class ReplicatedServer: Sendable {
  private struct State {
    var primary: PostgreSQLServer
    var standby: PostgreSQLServer
    /// The name of the primary's link.
    var primaryLink = "a"
  }

  /// The folder with a link to each server's folder: their connection string stays the same.
  private let folder: String
  private let state: Locked<State>

  package init() throws {
    folder = try SystemUser.makeFolder("mooring-replicas")
    let settings = PostgreSQLServer.replicationSettings.merging(["max_connections": "200"]) { $1 }
    let primary = try PostgreSQLServer(settings: settings)
    state = Locked(State(primary: primary, standby: try primary.makeStandby()))
    try link()
  }

  /// The string for a session at whichever server is the primary.
  package var connectionText: String {
    "host=\(folder)/a,\(folder)/b user=mooring dbname=postgres target_session_attrs=read-write"
  }

  package var primary: PostgreSQLServer { state.withLock { $0.primary } }
  package var standby: PostgreSQLServer { state.withLock { $0.standby } }

  package func stop() {
    primary.stop()
    standby.stop()
    // What stays is a folder with two links.
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Ends the primary at once, as if its machine had died, with its data.
  package func killPrimary() { primary.stop() }

  /// Makes a standby for the server that was the standby, and has been promoted since.
  package func replaceStandby() throws {
    let promoted = standby
    let next = try promoted.makeStandby()
    state.withLock { state in
      (state.primary, state.standby) = (promoted, next)
      state.primaryLink = state.primaryLink == "a" ? "b" : "a"
    }
    try link()
  }

  private func link() throws {
    let (primary, standby, first) = state.withLock {
      ($0.primary.folder, $0.standby.folder, $0.primaryLink)
    }
    for (name, target) in [(first, primary), (first == "a" ? "b" : "a", standby)] {
      let path = "\(folder)/\(name)"
      if symlink(target, path + ".new") != 0 || rename(path + ".new", path) != 0 {
        throw SystemError()
      }
    }
  }
}
