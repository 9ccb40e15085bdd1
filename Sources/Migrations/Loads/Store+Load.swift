import EntityModel
public import EntityObjects
public import EntityStore
import SystemSupport

/// The progress of a load.
public enum LoadProgress: Hashable, Sendable {
  /// Items have been committed.
  case items(BatchProgress)
  /// The indexes are being built.
  case indexes(MigrationProgress)
}

extension Store {
  /// Inserts the items of a source into an empty entity, and builds its indexes afterwards, from
  /// sorted keys. This is faster than `execute` for more rows than fit into the caches, and the
  /// pages of the indexes are full.
  ///
  /// Indexes that are neither unique nor needed by a relationship are set aside while the items are
  /// inserted. Everything else is as in `execute`: chunks, conflicts, unique indexes, history. If
  /// the entity has other records than those of an interrupted run of this load, all indexes stay
  /// in place, and this is `execute`.
  ///
  /// Others can read and write at any time, from any process; what they write is in the indexes at
  /// the end. Until then a fetch scans the records instead, and `explain` names the indexes that
  /// are set aside. Live results and relationships work as always. A commit has up to 16,384
  /// changed pages, four times as many as that of another batch, so that other writers wait longer;
  /// LMDB keeps the memory of these pages, 64 MB, until the store is closed. Migrations and other
  /// loads are refused with `busy`. Programs of earlier versions can only read.
  ///
  /// The indexes are set aside once the source has given items. A load that fails before its first
  /// commit builds them again at once. After a kill, a later error or a cancellation, the same load
  /// continues; until it does, the indexes stay set aside. They are also built by
  /// `buildDeferredIndexes`, by `migrate`, and when a program opens the store for writing. A load
  /// that continues after that sets them aside again.
  ///
  /// - Parameter progress: Called after each commit, at first on the task, and while indexes are
  ///   built on another thread.
  /// - Throws: The errors of `execute` for a `BatchInsertRequest`; `busy` while a migration or
  ///   another load runs; `needsMigration`; `schemaMismatch` for an index with another version of
  ///   its collation; `diskFull`, `mapFull` or another storage failure.
  public func load(
    _ request: BatchInsertRequest, progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws -> BatchResult {
    try await load(request, building: MigrationOptions(), progress)
  }

  /// Runs a load.
  ///
  /// - Parameter options: The bounds of the chunks in which the indexes are built.
  package func load(
    _ request: BatchInsertRequest, building options: MigrationOptions,
    _ progress: (@Sendable (LoadProgress) -> Void)? = nil
  ) async throws -> BatchResult {
    let catalog = try catalog()
    try schemaPolicy.checkWritable(catalog, in: folder)
    try catalog.checkCollations()
    let lock = try MigrationLock(of: self, within: .zero)
    defer { withExtendedLifetime(lock) {} }
    let threads = BoundedThreads("mooring.load", threadsMax: 1)
    // The checkpoint stays until the indexes are built: after a kill the same load finds its items.
    let result = try await insertItems(request, on: threads, options, progress)
    try await build(options, on: threads, progress)
    if !request.options.keepsProgress {
      try await write(author: request.options.author) { try request.removeCheckpoint(in: $0) }
    }
    return result
  }

  /// Inserts the items. The indexes are set aside before the first one.
  private func insertItems(
    _ request: BatchInsertRequest, on threads: BoundedThreads, _ options: MigrationOptions,
    _ progress: (@Sendable (LoadProgress) -> Void)?
  ) async throws -> BatchResult {
    // True from the moment at which the indexes are set aside until the first commit of items.
    let isUnused = Locked(false)
    do {
      return try await insert(request) {
        let isDone = try await threads.run {
          try IndexDeferral(store: self, request: request).run()
        }
        isUnused.withLock { $0 = isDone }
      } _: { items in
        isUnused.withLock { $0 = false }
        progress?(.items(items))
      }
    } catch {
      // A load that is refused leaves the indexes as they were. If they cannot be built, they stay
      // set aside, as after an interruption; the caller gets the error of the load.
      if isUnused.withLock({ $0 }) { try? await build(options, on: threads, progress) }
      throw error
    }
  }

  private func build(
    _ options: MigrationOptions, on threads: BoundedThreads,
    _ progress: (@Sendable (LoadProgress) -> Void)?
  ) async throws {
    let isCancelled = Locked(false)
    var options = options
    options.isCancelled = { isCancelled.withLock { $0 } }
    options.progress = { progress?(.indexes($0)) }
    let migrator = try Migrator(self, options)
    try await withTaskCancellationHandler {
      try await threads.run { try DeferredIndexBuild(migrator: migrator).run() }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }
}
