import Foundation
import Mooring

@testable import EntityStore

/// A small store in memory. Each input gets a copy of its data file, with its own changes.
struct SampleStore {
  static let migrations = [
    MigrationSource(embedded: [("0001_sample", Array(Self.migration.utf8))])
  ]

  /// The data file of the store.
  let bytes: [UInt8]

  /// - Parameter prepare: Called last, before the file is read.
  init(_ prepare: (Store) throws -> Void = { _ in }) {
    do {
      bytes = try withFolder { folder in
        let store = try Store.open(
          at: folder, migrations: Self.migrations, migrate: .ifEmpty, options: Self.options)
        try Self.fill(store)
        try prepare(store)
        store.close()
        return Array(try Data(contentsOf: URL(filePath: folder + "/data.mdb")))
      }
    } catch {
      fatalError("no store: \(error)")
    }
  }

  /// The same times in each run, so that a finding stays one.
  static var options: Store.Options {
    var options = Store.Options()
    options.mapSize = 16 << 20
    options.flushesCommits = false
    options.now = { Date(timeIntervalSinceReferenceDate: 800_000_000) }
    return options
  }

  static func fill(_ store: Store) throws {
    for number in 0..<6 {
      try store.writeBlocking(author: "fuzz") { transaction in
        let shelf = try transaction.insert("Shelf", ["name": .string("shelf \(number)")])
        let text = String(repeating: "note ", count: number == 5 ? 1_500 : number)
        for rank in 0..<4 {
          try transaction.insert(
            "Book",
            [
              "title": .string("book \(number)/\(rank)"), "rank": .int64(Int64(rank)),
              "tags": .strings(["a", "b\(rank)"]), "note": .string(text),
              "shelf": .int64(shelf.number),
            ])
        }
        if number == 3 { try transaction.delete(shelf) }
      }
    }
  }

  /// Writes a data file to a new folder, and calls the closure with its path: no input has an
  /// effect on the next one.
  static func with<R>(_ bytes: [UInt8], _ body: (String) throws -> R) rethrows -> R {
    try withFolder { folder in
      guard FileManager.default.createFile(atPath: folder + "/data.mdb", contents: Data(bytes))
      else { fatalError("no file in \(folder)") }
      chmod(folder + "/data.mdb", 0o600)
      return try body(folder)
    }
  }

  /// Opens a copy. Its migrations are not compared with those of a program, which takes long.
  ///
  /// - Returns: Nil for an error of the store.
  static func open(_ folder: String, _ options: Store.Options = options) -> Store? {
    unlessRefused {
      try Store(folder: folder, policy: AnyMigrations(), creates: false, options: options)
    }
  }

  private struct AnyMigrations: SchemaPolicy {
    func checkReadable(_ catalog: Catalog) {}
    func checkWritable(_ catalog: Catalog, in folder: String) {}
  }

  /// Reads all records, in the order of each index, and the history. A damaged one gives an error.
  ///
  /// - Returns: False if there was an error.
  static func isReadable(_ store: Store) -> Bool {
    var isReadable = true
    func read(_ body: () throws -> Void) {
      if unlessRefused(body) == nil { isReadable = false }
    }
    for entity in unlessRefused({ try store.schema.entities }) ?? [] {
      var request = FetchRequest(entityName: entity.name)
      read { _ = try store.read { try $0.fetch(request) } }
      for index in entity.indexes {
        request.sortBy = index.keys.compactMap { key in
          entity.attributes.first { $0.id == key.attributeID }.map {
            SortKey($0.name, descending: key.isDescending)
          }
        }
        read { _ = try store.read { try $0.fetch(request) } }
      }
    }
    read { _ = try store.history() }
    return isReadable
  }

  private static let migration = """
    line: fuzz
    summary: Records with links, indexes and long values
    steps:
      - createEntity:
          name: Shelf
          attributes:
            - { name: name, type: string }
      - createEntity:
          name: Book
          attributes:
            - { name: title, type: string }
            - { name: rank, type: int64, default: 0 }
            - { name: tags, type: strings, optional: true }
            - { name: note, type: string, optional: true }
      - createRelationship:
          on: Book
          name: shelf
          to: Shelf
          inverse: { name: books, many: true }
      - createIndex: { on: Book, name: byTitle, keys: [title], unique: true }
      - createIndex: { on: Book, name: byTag, keys: [tags, rank desc] }
    """
}

/// Calls the closure with a new folder in `$TMPDIR`, which `run` creates in memory.
func withFolder<R>(_ body: (String) throws -> R) rethrows -> R {
  var template = Array("\(FileManager.default.temporaryDirectory.path)/fuzz-XXXXXX".utf8CString)
  guard mkdtemp(&template) != nil else { fatalError("no temporary folder") }
  let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  defer { try? FileManager.default.removeItem(atPath: path) }
  return try body(path)
}

/// Returns nil for an error of the store. Any other error is a finding.
func unlessRefused<R>(_ body: () throws -> R) -> R? {
  do {
    return try translatingStorageErrors(body)
  } catch is StoreError {
    return nil
  } catch {
    fatalError("an error of another kind: \(error)")
  }
}
