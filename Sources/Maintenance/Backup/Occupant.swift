import EntityStore
import Foundation
import LMDB

/// The content of the folder that a backup is restored to. It protects another store from a
/// mistaken path.
enum Occupant {
  case nothing
  case store(UUID)
  /// A store whose id cannot be read, because it is damaged or was written by a newer program.
  case unknown
  /// LMDB data of another program.
  case foreign

  /// Reads no more of the file than is needed to identify it, and maps it only when that part is
  /// known to be undamaged.
  init(of folder: String, _ options: Store.Options) throws {
    guard let mark = try DataFile.mark(of: DataFile.path(in: folder)), mark.bytes > 0 else {
      self = .nothing
      return
    }
    let report = try PageFile.verify(folder: folder, only: [CatalogTree.name], limit: 1)
    guard report.problemsTotal == 0 else {
      self = .unknown
      return
    }
    var opening = Environment.Options(mapSize: options.mapSize, access: .readOnly)
    opening.writerDeadline = options.writerDeadline
    let environment = try Environment.open(at: folder, options: opening)
    self = try environment.read { transaction in
      guard let tree = try environment.tree(named: CatalogTree.name, in: transaction) else {
        return try environment.treeNames(in: transaction).isEmpty ? .nothing : .foreign
      }
      do {
        return .store(try StoredCatalog.readHeader(tree, in: transaction).uuid)
      } catch is StoreError {
        // The error says that the header cannot be read, which is a valid result here.
        return .unknown
      }
    }
  }

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
      throw refusal("which store is there can no longer be told", folder)
    }
  }

  private func refusal(
    _ summary: StaticString, _ folder: String, _ context: [(String, String)] = []
  ) -> StoreError {
    StoreError(
      .occupied, summary, [("path", folder)] + context,
      advice: "check the paths; `--replace-other-store` replaces it all the same")
  }
}
