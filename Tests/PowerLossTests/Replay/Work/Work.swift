import EntityStore
import Foundation
import Migrations
import TestSupport

/// The work of which each moment is checked.
enum Work: String, CaseIterable, Sendable {
  case creation, set, batch, large, load, indexBuild, destructiveMigration, sync, compact, backup,
    restore, jobs, hub

  /// Creates what the work needs in the folder that is recorded.
  ///
  /// - Parameter folder: A folder for other files.
  func prepare(in root: String, beside folder: TemporaryFolder) async throws -> PreparedWork {
    switch self {
    case .creation: .creation
    case .set: try await .set(in: root)
    case .batch: try await .batch(in: root)
    case .large: try await .large(in: root)
    case .load: try await .load(in: root)
    case .indexBuild: try await .migration(.compound, in: root, beside: folder)
    case .destructiveMigration: try await .migration(.destructive, in: root, beside: folder)
    case .sync: try await .sync(in: root)
    case .compact: try await .compact(in: root)
    case .backup: try await .backup(in: root)
    case .restore: try await .restore(in: root)
    case .jobs: try await .jobs(in: root)
    case .hub: .hub
    }
  }
}

/// Work in a folder that contains all it needs.
struct PreparedWork: Sendable {
  /// Does the work in processes that a recorder starts. Their settings, as `flush=1`, are given.
  let run: @Sendable (Recorder, _ settings: [String]) async throws -> Void
  /// Checks a folder like the recorded one after a loss of power: each store opens, is undamaged,
  /// and has everything that was acknowledged; and the work can be repeated or continued.
  ///
  /// - Returns: The problems. An error is one as well.
  let problems: @Sendable (_ image: String, Acknowledged) async throws -> [String]
}
