import EntityModel
package import EntityStore
import Foundation

/// The checkpoint of a batch. It is committed with the rows of each chunk.
struct BatchCheckpoint: Codable, Sendable {
  /// The time at which the batch first began. It is the value of `now`, also after an interruption.
  let startedAt: Date
  /// The number of records scanned or items inserted.
  var done: Int64 = 0
  var counts = BatchResult.Counts()
  /// The id of the last record scanned by an update or a deletion.
  var last = Int64.min
  /// A digest of all items that an insert has processed, by which it recognizes the same source.
  var digest: Int64 = 0
  /// True in the checkpoint of a finished batch whose progress is kept.
  var hasEnded: Bool?
  /// True in the checkpoint of a load that has inserted all of its items.
  var isLoaded: Bool?
}

/// One run of a batch: its checkpoint and its chunked write.
struct BatchRun: Sendable {
  let store: Store
  let write: ChunkedWrite<BatchCheckpoint>
  let start: BatchCheckpoint
  /// True if an interrupted run of the same request has left a checkpoint.
  let isResumed: Bool

  /// Runs the body for a request while no other run of the same name is running.
  ///
  /// - Parameter isLoad: True to leave the checkpoint in the store at the end, and to commit more
  ///   at a time.
  static func begin(
    _ kind: String, _ identity: [String], _ options: BatchRequestOptions, on store: Store,
    isLoad: Bool = false, isolation: isolated (any Actor)? = #isolation,
    _ body: (BatchRun) async throws -> BatchResult
  ) async throws -> BatchResult {
    let name = name(kind, identity, options)
    return try await BatchLease.hold(name, in: store) {
      var write = ChunkedWrite<BatchCheckpoint>(name: name, author: options.author)
      write.rowsMax = max(1, options.chunkRows)
      write.duration = options.chunkDuration
      if isLoad {
        write.markEnded = { $0.isLoaded = true }
        write.dirtyPagesMax = StoreLimits.loadDirtyPagesMax
      }
      if options.keepsProgress { write.markEnded = { $0.hasEnded = true } }
      let chunks = write
      if options.restart { try await store.write { try chunks.checkpoint.remove(in: $0) } }
      let interrupted = try store.read { try chunks.checkpoint.load(in: $0) }
      if let ended = interrupted?.position, ended.hasEnded == true {
        return BatchResult(.count, ended.counts, [], isResumed: true)
      }
      let start = interrupted?.position ?? BatchCheckpoint(startedAt: store.options.now())
      return try await body(
        BatchRun(store: store, write: write, start: start, isResumed: interrupted != nil))
    }
  }

  /// Returns the name of a request's checkpoint and lease.
  static func name(
    _ kind: String, _ identity: [String], _ options: BatchRequestOptions
  ) -> String {
    "batch.\(kind):" + (options.name ?? hash(identity))
  }

  /// Returns a hash in which each part has its length before it, so that different lists differ.
  private static func hash(_ identity: [String]) -> String {
    let text = identity.map { "\($0.utf8.count):\($0)" }.joined()
    return String(UInt64(bitPattern: ContentHash.of(text)), radix: 16)
  }
}

extension WriteTransaction {
  /// Switches off the given checks and effects for the changes that follow.
  func leaveOut(_ options: Set<BatchOption>) {
    if options.contains(.validation) { keepsRules = false }
    if options.contains(.history) { recordsHistory = false }
  }
}

extension StoreError {
  /// Returns the same error with the name of the thing it is about.
  func about(_ what: String, _ name: String) -> StoreError {
    var error = self
    error.context.insert((what, name), at: 0)
    return error
  }
}

extension BatchRequestOptions {
  /// Deletes the progress of a batch whose request keeps it.
  ///
  /// - Parameter kind: `update`, `delete` or `insert`.
  package static func dropProgress(
    ofBatch kind: String, named name: String, in transaction: WriteTransaction
  ) throws {
    try Checkpoint<BatchCheckpoint>(name: "batch.\(kind):\(name)").remove(in: transaction)
  }
}
