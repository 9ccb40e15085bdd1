import EntityStore
import Foundation

/// The check that protects another store from a restore to a mistaken path.
extension UncheckedStore.Identity {
  /// Checks that a backup of the given store may replace the content of the folder.
  ///
  /// - Throws: `occupied`.
  func requireReplaceable(by id: UUID, _ folder: String, _ options: RestoreOptions) throws {
    if options.replacesOtherStore { return }
    switch self {
    case .nothing, .store(id): return
    case .store(let other):
      throw refusal(
        "another store is there", folder,
        [("its id", other.uuidString), ("the backup's", id.uuidString)])
    case .foreign: throw refusal("another program's LMDB data is there", folder)
    case .unknown:
      // Replacing a damaged store is the purpose of backups; but its file has to be kept.
      guard !options.keepsReplaced else { return }
      throw refusal("the id of the store that is there cannot be read", folder)
    }
  }

  private func refusal(
    _ summary: StaticString, _ folder: String, _ context: [(String, String)] = []
  ) -> StoreError {
    StoreError(
      .occupied, summary, [("path", folder)] + context,
      advice: "check the paths; `--replace-other-store` replaces it anyway")
  }
}
