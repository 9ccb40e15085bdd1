public import DurableJobs
import EntityStore
import Migrations

/// Applies migrations that create, change or drop indexes, while others read and write
/// (`Store.migrate`).
///
/// The payload has all files of the migration line, including the applied ones, so that no program
/// needs to know them. Each pending migration must say `older: write`, so that running programs can
/// go on, and must have no steps other than those of indexes, none of which deletes records. Use
/// `mooring migrate` for all other migrations.
///
/// An interrupted or cancelled job leaves what it has built: another attempt or `mooring migrate
/// up` continues with it, and `mooring migrate abandon` drops it.
public struct BuildIndexes: Job, Hashable {
  public static let kind: JobKind = "index.build"
  public static let policy = JobPolicy(queue: .maintenance, attemptsMax: 5)

  /// A migration file.
  public struct File: Codable, Hashable, Sendable {
    /// The file name without its extension, such as `0001_by_title`.
    public var name: String
    public var text: String

    public init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  /// The migrations that were applied.
  public struct Output: Codable, Hashable, Sendable {
    /// The migrations that this attempt has applied, such as `local 0001_by_title`.
    public var applied: [String]
    /// The migration lines of the files, with the number of applied migrations.
    public var versions: [String: Int]
  }

  public var files: [File]

  public init(_ files: [File]) { self.files = files }

  /// One job at a time may migrate a store.
  public var limit: JobLimit? { JobLimit(Self.kind.rawValue) }
}

extension BuildIndexes {
  /// Blocks.
  func run(_ context: JobContext) throws -> Output {
    let source = MigrationSource(embedded: files.map { ($0.name, Array($0.text.utf8)) })
    let lines = try lines(of: source)
    do {
      // Opened with these lines only, whatever lines the runner's program has.
      var opening = Store.Options()
      opening.now = { context.store.now() }
      let store = try Store.open(
        at: context.store.folder, migrations: [source], options: opening)
      for migration in try store.migrationState().pending { try require(migration) }
      let report = try store.migrate(options(context))
      return Output(
        applied: report.migrations.map { "\($0.line) \($0.name)" },
        versions: Dictionary(uniqueKeysWithValues: lines.map { ($0.name, $0.migrations.count) }))
    } catch {
      throw JobStop.verdict(on: error)
    }
  }

  private func lines(of source: MigrationSource) throws -> [MigrationLine] {
    let lines: [MigrationLine]
    do {
      lines = try MigrationLine.load([source])
    } catch {
      throw JobStop.discard(because: "\(error)")
    }
    if lines.isEmpty { throw JobStop.discard(because: "the job has no migrations") }
    for line in lines where line.migrations.contains(where: \.isOfSystem) {
      throw JobStop.discard(because: "the line \(line.name) is the store's own")
    }
    return lines
  }

  private func require(_ migration: Migration) throws {
    let name = "\(migration.line) \(migration.name)"
    for step in migration.steps {
      guard [.createIndex, .changeIndex, .dropIndex].contains(step.verb) else {
        throw JobStop.discard(
          because: "\(name) does more than indexes (\(step)); run `mooring migrate up`")
      }
      if step.isDestructive {
        throw JobStop.discard(
          because: "\(name) may delete records (\(step)); run `mooring migrate up`")
      }
    }
    guard migration.older == .write else {
      throw JobStop.discard(
        because: "\(name) would keep running programs from writing; add `older: write` to the file")
    }
  }

  private func options(_ context: JobContext) -> MigrationOptions {
    var options = MigrationOptions()
    options.isCancelled = { context.isCancelled }
    options.sealsRecords = false
    options.progress = { progress in
      context.report(
        done: progress.done, of: progress.total > 0 ? progress.total : nil,
        note: "\(progress.text): \(progress.stage.rawValue)")
    }
    return options
  }
}
