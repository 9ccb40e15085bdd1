import CMooringSQLite
public import EntityModel
public import EntityStore
import Foundation
import StrictYAML

/// A SQLite file of another program that is imported: a store of Core Data or SwiftData, the cache
/// of a feed reader, a file made by hand.
///
/// The file is copied with its `-wal` and its `-journal`, and only the copy is opened. The file
/// itself stays the same, byte by byte, and another program may write to it during the import. All
/// calls block their thread.
public struct LegacyFile: Sendable {
  /// The options of an inspection, a plan and a run.
  public struct Options: Sendable {
    /// True to read a damaged or truncated file as far as possible and to report what cannot be
    /// read.
    public var allowsDamage = false
    /// True for a run that deletes the records of rows that are no longer in the file. If these are
    /// most of the records, none is deleted.
    public var prunes = false
    /// True to delete these records even if they are most of the records.
    public var allowsDeletions = false
    /// The number of rows of a damaged file that may be missing: with more, the result is not
    /// balanced.
    public var missingRowsAllowed: Int64 = 0
    /// The folder for the copy, which takes as much space as the file; `nil` for `$TMPDIR`.
    public var scratchFolder: String?
    /// Called between two chunks. If it returns true, the call ends with a `CancellationError`.
    public var isCancelled: @Sendable () -> Bool = { false }
    public var progress: @Sendable (ImportProgress) -> Void = { _ in }

    public init() {}
  }

  public let path: String
  public let options: Options

  public init(_ path: String, _ options: Options = Options()) {
    self.path = path
    self.options = options
  }

  /// Examines the file and proposes a mapping and a migration. Nothing is written.
  ///
  /// - Parameter name: The import's name in the store; by default from the file's name.
  /// - Parameter inheritance: What becomes of the entities of a Core Data store that inherit from
  ///   others.
  /// - Parameter model: The path of the model that Xcode has of the program: an `.xcdatamodel` or
  ///   `.xcdatamodeld` folder. It takes the place of the model in a Core Data store.
  /// - Parameter taken: The names of entities that the store has already, or will have: an entity
  ///   of the proposal with one of these gets the name of the import before its own.
  /// - Throws: `ImportError` for what is no file that can be read; `CancellationError`.
  public func inspect(
    name: String? = nil, inheritance: ImportInheritance? = nil, model: String? = nil,
    besides taken: Set<String> = []
  ) throws -> ImportProposal {
    let name = try importName(name)
    // Before the copy, which may take long.
    let model = try model.map { try ModelFile.model(at: $0) }
    return try ImportProposal(try open(), name: name, inheritance, model: model, besides: taken)
  }

  /// Updates a mapping of an earlier version of the file, in which the program had another model.
  ///
  /// What was edited stays. Sources with new names and numbers are corrected, sources that are gone
  /// are removed and reported, and what is new is added. The migration of the proposal adds the new
  /// entities, attributes and relationships. Nothing is written.
  ///
  /// - Parameters:
  ///   - mapping: The mapping of the earlier version.
  ///   - schema: The schema that the mapping refers to.
  ///   - model: As for `inspect`.
  ///   - taken: As for `inspect`.
  /// - Throws: As `inspect`; `YAMLError` for a mapping that does not fit the schema.
  public func update(
    _ mapping: MappingText, schema: Schema, model: String? = nil, besides taken: Set<String> = []
  ) throws -> ImportProposal {
    let old = try mapping.commented(schema)
    let model = try model.map { try ModelFile.model(at: $0) }
    return try ImportProposal(updating: old, schema, try open(), model: model, besides: taken)
  }

  /// Performs a complete dry run: every row is read, converted and checked against the rules and
  /// the records of the store. Nothing is written.
  ///
  /// - Parameter reject: Called with each row and link that a run would not take over.
  /// - Returns: The effects that the run would have.
  /// - Throws: `ImportError`, `YAMLError` for a mapping that does not fit; what the closure throws.
  public func plan(
    _ mapping: MappingText, in store: Store, reject: (ImportReject) throws -> Void = { _ in }
  ) throws -> ImportReport {
    try withoutActuallyEscaping(reject) { reject in
      try run(mapping, StoreDestination(store: store), now: { store.now() }).plan(reject: reject)
    }
  }

  /// Imports the file. A run that was interrupted is resumed. After a completed run, only what has
  /// changed in the file since is written, and rejected rows are tried again.
  ///
  /// - Returns: The counts of what was written, and a comparison of store and file.
  /// - Throws: As `plan`; `unconfirmed` if the mapping has guesses; `running` if another run of the
  ///   same import is under way; `StoreError`. What was committed stays.
  public func run(_ mapping: MappingText, in store: Store) throws -> ImportReport {
    let run = try run(mapping, StoreDestination(store: store), now: { store.now() })
    try run.requireConfirmed()
    return try ImportLease.hold(run.name, in: store) { try run.run() }
  }

  // MARK: Parts

  /// - Parameter lostTables: The statements that create tables, by name, for a file that has lost
  ///   its schema.
  func open(lostTables: [String: String] = [:]) throws -> SourceDatabase {
    options.progress(ImportProgress(stage: .copying, name: path, done: 0, total: 0))
    let snapshot = try SourceSnapshot.take(
      of: path, in: options.scratchFolder, isCancelled: options.isCancelled)
    return try SourceDatabase.open(
      snapshot, allowsDamage: options.allowsDamage, lostTables: lostTables,
      isCancelled: options.isCancelled)
  }

  func run(
    _ text: MappingText, _ target: any ImportDestination, now: @escaping @Sendable () -> Date
  ) throws -> ImportRun {
    try target.read { snapshot in
      guard snapshot.schema.entity(named: ImportRecords.source) != nil else {
        throw ImportError(
          .mapping, "the store cannot remember imports yet", advice: "run `mooring migrate up`")
      }
    }
    if options.prunes, options.allowsDamage {
      throw ImportError(
        .mapping, "records cannot be pruned by a damaged file", [("file", path)],
        advice: "a row that cannot be read has not vanished; leave out one of the two options")
    }
    // Before the copy, which may take long.
    let mapping = try target.read { try text.mapping($0.schema) }
    let database = try open(lostTables: mapping.lostTables)
    let check = MappingCheck(of: mapping, against: database.tables)
    if let problem = check.problems.first {
      throw ImportError.inMapping(
        "the mapping does not fit the file", [("problem", problem)],
        advice: "if the file is newer, `mooring import inspect --update` updates the mapping")
    }
    return ImportRun(
      name: mapping.name, target: target, database: database, mapping: mapping,
      checksum: mapping.checksum, warnings: database.report.warnings + check.unmentioned,
      contents: CellContents(source: database.report.source), prunes: options.prunes,
      allowsDeletions: options.allowsDeletions, missingAllowed: options.missingRowsAllowed,
      now: now, isCancelled: options.isCancelled,
      progress: options.progress)
  }

  /// Returns the name of an import of this file: the given one, or one from the file's name.
  ///
  /// - Throws: `ImportError` for what is no name.
  public func importName(_ name: String? = nil) throws(ImportError) -> String {
    if let name {
      guard ImportMapping.isName(name) else {
        throw ImportError(
          .mapping, "this is not a valid name of an import", [("name", name)],
          advice: "begin with a letter, then lower-case letters, digits, - and .")
      }
      return name
    }
    let file = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent.lowercased()
    let name = String(file.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(64))
    let trimmed = name.trimmingCharacters(in: CharacterSet(charactersIn: "-"))
    // A file may be called 2024.sqlite, or system.db.
    return ImportMapping.isName(trimmed) ? trimmed : String("import-\(trimmed)".prefix(64))
  }
}

/// The text of a mapping file. It is read against the schema of the store that it is used with.
public struct MappingText: Sendable {
  /// The largest size of a file in bytes.
  package static let bytesMax = YAMLDocument.bytesMax

  private let root: YAMLNode
  /// The text for its comments; empty for the argument of a migration step.
  private let text: String

  /// - Parameter file: The name that errors carry.
  /// - Throws: `YAMLError` for what is not in the dialect of migrations.
  public init(_ bytes: [UInt8], file: String) throws {
    root = try MappingFile.parse(bytes, file: file)
    text = String(decoding: bytes, as: UTF8.self)
  }

  init(_ root: YAMLNode) {
    self.root = root
    text = ""
  }

  /// Returns the guesses that have not been confirmed, as `Entity.property: why`. A run refuses a
  /// mapping that has any.
  ///
  /// - Throws: `YAMLError` for a mapping that does not fit what is in the store.
  public func unconfirmed(in store: Store) throws -> [String] {
    try store.read { try mapping($0.schema).unconfirmed }
  }

  /// Returns the name of the import.
  ///
  /// - Throws: `YAMLError` for a mapping that does not fit the schema.
  package func name(_ schema: Schema) throws -> String { try mapping(schema).name }

  func mapping(_ schema: Schema) throws -> ImportMapping {
    try MappingFile.read(root, schema: schema)
  }

  /// Returns the mapping with the comments of the file.
  func commented(_ schema: Schema) throws -> ImportMapping {
    var comments = MappingComments(text)
    return try comments.added(to: mapping(schema), from: root)
  }
}

extension ImportRun {
  func requireConfirmed() throws(ImportError) {
    let guesses = mapping.unconfirmed
    guard let first = guesses.first else { return }
    throw ImportError.inMapping(
      "the mapping has unconfirmed guesses",
      [("guesses", String(guesses.count)), ("first", first)],
      advice: "confirm or correct each with `mooring import confirm`", code: .unconfirmed)
  }
}

extension LegacyFile {
  /// The version of SQLite: `3.40.1`.
  package static var libraryVersion: String {
    // SAFETY: the text is a constant, and never null.
    String(cString: sqlite3_libversion())
  }
}
