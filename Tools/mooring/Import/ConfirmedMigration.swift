import Console
import EntityModel
import EntityStore
import Foundation
import LegacyImport
import Migrations

/// The migration of an import after choices: its files with the changes, or, if one of these was
/// already applied to the store, the next file of the line.
struct ConfirmedMigration {
  /// The schema after all files.
  let schema: Schema
  /// True if the changes are in a file of their own.
  private(set) var isAdditional = false
  /// True if the file of their own drops an attribute or a relationship.
  private(set) var isDestructive = false
  /// The files with their old texts; `nil` for a new file.
  private var files: [(path: String, text: String, before: String?)] = []

  /// The files that are written.
  var paths: [String] { files.map(\.path) }

  /// - Throws: `CommandError` if no file has what is changed; `YAMLError` and `StoreError` for
  ///   files that are wrong, or would be after the changes.
  init(_ changes: [ReadingChange], of before: Schema, _ options: StoreOptions) throws {
    guard !changes.isEmpty else {
      schema = before
      return
    }
    var left = changes
    var all: [(name: String, bytes: [UInt8])] = []
    var changed: [MigrationPath] = []
    for file in try MigrationPath.all(in: options.migrationFolders) {
      let text = try file.text()
      let result = try MigrationEdits.text(of: text, file: file.path, after: left)
      if result.left.count < left.count {
        files.append((file.path, result.text, text))
        changed.append(file)
      }
      left = result.left
      all.append((file.name, Array(result.text.utf8)))
    }
    if let change = left.first {
      throw CommandError(
        .configuration,
        "no file in \(options.migrationFolders.joined(separator: ", ")) creates what changes "
          + "(\(change.description)); change it with a migration, and the mapping by hand")
    }
    schema = try Schema(
      of: try MigrationLine.load(options.builtInSources + [MigrationSource(embedded: all)]))
    if let (folder, line) = try Self.applied(changed, options) {
      try becomeAdditional(to: line, in: folder, from: before, options)
    }
  }

  /// Returns the folder and the line of a file that was applied to the store.
  private static func applied(
    _ files: [MigrationPath], _ options: StoreOptions
  ) throws -> (folder: String, line: String)? {
    guard FileManager.default.fileExists(atPath: options.folder) else { return nil }
    let history = try options.openToRead().migrationHistory()
    for file in files {
      let lines = try MigrationLine.load([.directory(file.folder)])
      for line in lines where line.migrations.contains(where: { $0.name == file.name }) {
        if history.contains(where: { $0.line == line.name && $0.name == file.name }) {
          return (file.folder, line.name)
        }
      }
    }
    return nil
  }

  private mutating func becomeAdditional(
    to line: String, in folder: String, from before: Schema, _ options: StoreOptions
  ) throws {
    let draft = try MigrationDraft(line: line, slug: "confirmed", in: folder, options)
    let steps = SchemaComparison(from: before, to: schema).steps
    let text = MigrationText.yaml(
      of: steps, line: line, summary: "Guesses of the inspection that were confirmed or corrected")
    isAdditional = true
    isDestructive = steps.contains(where: \.isDestructive)
    files = [((folder as NSString).appendingPathComponent(draft.fileName), text, nil)]
  }

  func write() throws {
    for file in files { try CommandFile.replace(file.path, with: file.text) }
  }

  /// Restores what `write()` has replaced.
  func undo() throws {
    for file in files {
      if let before = file.before {
        try CommandFile.replace(file.path, with: before)
      } else {
        try FileManager.default.removeItem(atPath: file.path)
      }
    }
  }
}

/// A migration file in a folder.
private struct MigrationPath {
  let folder: String
  /// The file name without its extension.
  let name: String

  var path: String { (folder as NSString).appendingPathComponent(name + ".yaml") }

  func text() throws -> String {
    try ConfigurationFile("migration", bytesMax: MappingText.bytesMax)
      .text(of: path, advice: "check --migrations")
  }

  static func all(in folders: [String]) throws -> [MigrationPath] {
    try folders.flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".yaml") }.sorted()
        .map { MigrationPath(folder: folder, name: String($0.dropLast(5))) }
    }
  }
}
