import Console
import EntityModel
import EntityStore
import Foundation
import Migrations

/// The names of entities that the proposal of an import must not use.
struct TakenNames: Sendable {
  private let lines: [MigrationLine]
  /// The entities of the store, and the lines of migrations that were applied to it; `nil` without
  /// a store.
  private let store: (entities: [String], lines: Set<String>)?
  /// The reason why names are not compared with those of a store.
  let note: String?

  /// - Parameter folder: The folder where the migration is to go; other imports may have theirs
  ///   there.
  init(_ options: StoreOptions, folder: String?) throws {
    let known = try options.migrationLines()
    let own = try folder.map { try MigrationLine.load(ifPresent: $0) } ?? []
    lines = known.filter { line in !own.contains { $0.name == line.name } } + own
    do {
      let opened = try options.openToRead(options.allSources)
      store = (
        try opened.schema.entities.map(\.name), Set(try opened.catalog().history.map(\.line))
      )
      note = nil
    } catch let error as StoreError {
      store = nil
      let isMissing = error.code == .storeMissing
      note =
        "\(isMissing ? "there is no store at" : "the store cannot be read:") \(options.folder); "
        + "entities were named without regard to it"
    }
  }

  /// Returns the names that others than an import have.
  func names(besides name: String) -> Set<String> {
    let own = lines.filter { $0.name == name }.entityNames
    var names = lines.filter { $0.name != name }.entityNames
    // Without its file it is unknown which entities of the store an applied line has made.
    if let store, !store.lines.contains(name) || !own.isEmpty {
      names.formUnion(Set(store.entities).subtracting(own))
    }
    return names
  }
}

extension MigrationLine {
  /// Returns the lines of a folder; none if there is no such folder.
  fileprivate static func load(ifPresent folder: String) throws -> [MigrationLine] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
      isFolder.boolValue
    else { return [] }
    return try load([.directory(folder)])
  }
}

extension [MigrationLine] {
  /// The names of the entities that the lines create, or give to an entity.
  fileprivate var entityNames: Set<String> {
    var names: Set<String> = []
    for step in flatMap(\.migrations).flatMap(\.steps) {
      switch step {
      case .createEntity(let name, _, _): names.insert(name)
      case .renameEntity(_, let name): names.insert(name)
      default: break
      }
    }
    return names
  }
}
