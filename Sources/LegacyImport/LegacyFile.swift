import EntityModel
public import EntityStore
import Foundation
import StrictYAML

/// A SQLite file of another program, to be taken over: Core Data's and SwiftData's own stores, caches of
/// feed readers, files made by hand.
///
/// The file is only ever copied, with its `-wal` and its `-journal`, and the copy is opened: it is the same
/// afterward, byte by byte, and another program may write to it meanwhile. All calls block their thread.
public struct LegacyFile: Sendable {
  public struct Options: Sendable {
    /// Read a damaged or cut file as far as it goes, and name what cannot be read.
    public var allowsDamage = false
    /// Where the copy goes; `$TMPDIR` without it. It takes as much room as the file.
    public var scratchFolder: String?
    /// Asked between two chunks: `true` ends the call with a `CancellationError`.
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

  /// Looks at the file and proposes what to make of it. Nothing is written.
  ///
  /// - Parameter name: What the store is to remember it by; by default of the file's name.
  /// - Parameter inheritance: What becomes of the entities of a Core Data store that inherit from others.
  /// - Throws: `ImportError` for what is no file that can be read; `CancellationError`.
  public func inspect(
    name: String? = nil, inheritance: ImportInheritance? = nil
  ) throws -> ImportProposal {
    try ImportProposal(try open(), name: try importName(name), inheritance)
  }

  /// A full dry run: every row is read, converted and held against the rules and the store.
  ///
  /// - Parameter reject: Called with each row and link that a run would not take over.
  /// - Returns: What the run would amount to.
  /// - Throws: `ImportError`, `YAMLError` for a mapping that does not fit; what the closure throws.
  public func plan(
    _ mapping: MappingText, in store: Store, reject: (ImportReject) throws -> Void = { _ in }
  ) throws -> ImportReport {
    try withoutActuallyEscaping(reject) { reject in
      try run(mapping, StoreDestination(store), now: { store.now() }).plan { planned in
        try reject(ImportReject(planned))
      }
    }
  }

  /// Takes the file over. A run that was interrupted goes on where it was; one that has come to its end
  /// changes only what has changed in the file since, and takes what was rejected before.
  ///
  /// - Returns: What was written, and how what is in the store now compares with the file.
  /// - Throws: As `plan`; `unconfirmed` if the mapping has guesses; `running` if another run of the same
  ///   import is under way; `StoreError`. What was committed stays.
  public func run(_ mapping: MappingText, in store: Store) throws -> ImportReport {
    let run = try run(mapping, StoreDestination(store), now: { store.now() })
    try run.requireConfirmed()
    return try ImportLease.hold(run.name, in: store.folder) { try run.run() }
  }

  // MARK: Parts

  func open() throws -> SourceDatabase {
    options.progress(ImportProgress(stage: .copying, name: path, done: 0, total: 0))
    let snapshot = try SourceSnapshot.take(
      of: path, in: options.scratchFolder, isCancelled: options.isCancelled)
    return try SourceDatabase(
      snapshot, allowsDamage: options.allowsDamage, isCancelled: options.isCancelled)
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
    // Before the copy, which may take long.
    let mapping = try target.read { try text.mapping($0.schema) }
    let database = try open()
    if let problem = MappingCheck.problems(of: mapping, against: database.tables).first {
      throw ImportError(.mapping, "the mapping does not fit the file", [("problem", problem)])
    }
    return ImportRun(
      name: mapping.name, target: target, database: database, mapping: mapping,
      checksum: mapping.checksum, contents: CellContents(source: database.report.source),
      now: now, isCancelled: options.isCancelled, progress: options.progress)
  }

  private func importName(_ name: String?) throws(ImportError) -> String {
    if let name {
      guard ImportMapping.isName(name) else {
        throw ImportError(
          .mapping, "this is no name of an import", [("name", name)],
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

/// A mapping as a file has it, read against the schema of the store that it is used with.
public struct MappingText: Sendable {
  private let root: YAMLNode

  /// - Parameter file: The name that errors carry.
  /// - Throws: `YAMLError` for what is not in the dialect of migrations.
  public init(_ bytes: [UInt8], file: String) throws {
    root = try YAMLDocument.parse(bytes: bytes, file: file)
  }

  init(_ root: YAMLNode) { self.root = root }

  /// The guesses that nobody has confirmed, as `Entity.property: why`. A run refuses a mapping that has
  /// any.
  ///
  /// - Throws: `YAMLError` for a mapping that does not fit what is in the store.
  public func unconfirmed(in store: Store) throws -> [String] {
    try store.read { try mapping($0.schema).unconfirmed }
  }

  func mapping(_ schema: Schema) throws -> ImportMapping {
    try MappingFile.read(root, schema: schema)
  }
}

/// A row or a link that a run does not take over.
public struct ImportReject: Codable, Hashable, Sendable {
  /// The number of the record that the store keeps of it; `nil` in a plan.
  public let number: Int64?
  public let table: String
  /// JSON: the value of the key, or a list of its values.
  public let key: String
  public let entity: String
  /// The attribute or the relationship.
  public let property: String?
  /// Stable; programs may branch on it.
  public let code: String
  /// One line.
  public let message: String
  /// JSON: the columns that were read, long values cut.
  public let row: String

  init(_ planned: PlannedReject) {
    number = nil
    table = planned.table
    key = planned.key
    entity = planned.entity
    property = planned.reject.property
    code = planned.reject.code
    message = planned.reject.message
    row = planned.row
  }

  init(_ record: Record) throws {
    func text(_ name: String) throws -> String {
      if case .string(let text) = try record[name] { text } else { "" }
    }
    number = record.id.number
    table = try text("table")
    key = try text("key")
    entity = try text("entity")
    property = if case .string(let name) = try record["property"] { name } else { nil }
    code = try text("code")
    message = try text("message")
    row = try text("row")
  }
}

extension ImportMapping {
  /// Equal mappings have equal ones, whatever their files look like.
  var checksum: String {
    String(UInt64(bitPattern: ContentHash.of(MappingFile.text(of: withoutEvidence))), radix: 16)
  }

  /// As a file gives it back: evidence stands there for people.
  package var withoutEvidence: ImportMapping {
    var mapping = self
    mapping.evidence = []
    for entity in mapping.entities.indices {
      mapping.entities[entity].evidence = []
      for number in mapping.entities[entity].attributes.indices {
        mapping.entities[entity].attributes[number].evidence = []
      }
      for number in mapping.entities[entity].relationships.indices {
        mapping.entities[entity].relationships[number].evidence = []
      }
    }
    return mapping
  }

  /// The guesses that nobody has confirmed, as `Entity.property: why`.
  var unconfirmed: [String] {
    entities.flatMap { entity in
      entity.attributes.compactMap { attribute in
        attribute.unconfirmed.map { "\(entity.entity).\(attribute.attribute): \($0)" }
      }
        + entity.relationships.compactMap { relationship in
          relationship.unconfirmed.map { "\(entity.entity).\(relationship.relationship): \($0)" }
        }
    }
  }
}

extension ImportRun {
  func requireConfirmed() throws(ImportError) {
    let guesses = mapping.unconfirmed
    guard let first = guesses.first else { return }
    throw ImportError(
      .unconfirmed, "the mapping has guesses that nobody has confirmed",
      [("guesses", String(guesses.count)), ("first", first)],
      advice: "correct each or leave it, and remove its `unconfirmed`")
  }
}
