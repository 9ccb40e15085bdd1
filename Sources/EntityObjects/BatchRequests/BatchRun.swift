import EntityModel
package import EntityStore
import Foundation
import LMDB

/// How far a batch has come; committed with the rows of each chunk.
struct BatchFrontier: Codable, Sendable {
  /// When it began: what `now` stands for, also after an interruption.
  let startedAt: Date
  /// Records looked at, or items taken.
  var done: Int64 = 0
  var counts = BatchResult.Counts()
  /// Of an update or a deletion: the last record that was looked at.
  var last = Int64.min
  /// Of an insert: a hash of all items taken, by which the same source is known again.
  var digest: Int64 = 0
  /// Of one that is kept after its end.
  var hasEnded: Bool?
}

/// One run of a batch: what it begins with, and the chunked write that it goes through.
struct BatchRun: Sendable {
  let store: Store
  let write: ChunkedWrite<BatchFrontier>
  let start: BatchFrontier
  /// Whether an interrupted run of the same request had come so far.
  let isResumed: Bool

  /// Runs the body for a request, while no other run of the same name is under way.
  static func begin(
    _ kind: String, _ identity: [String], _ options: BatchRequestOptions, on store: Store,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (BatchRun) async throws -> BatchResult
  ) async throws -> BatchResult {
    let name = "batch.\(kind):" + (options.name ?? hash(identity))
    return try await BatchLease.hold(name, in: store.folder) {
      var write = ChunkedWrite<BatchFrontier>(name: name, author: options.author)
      write.rowsMax = max(1, options.chunkRows)
      write.duration = options.chunkDuration
      if options.keepsProgress { write.markEnded = { $0.hasEnded = true } }
      let chunks = write
      if options.restart { try await store.write { try chunks.finish(in: $0) } }
      let interrupted = try store.read { try chunks.load(in: $0) }
      if let ended = interrupted?.frontier, ended.hasEnded == true {
        return BatchResult(.count, ended.counts, [], isResumed: true)
      }
      let start = interrupted?.frontier ?? BatchFrontier(startedAt: store.options.now())
      return try await body(
        BatchRun(store: store, write: write, start: start, isResumed: interrupted != nil))
    }
  }

  /// Each part with its length, so that no two lists read the same.
  private static func hash(_ identity: [String]) -> String {
    let text = identity.map { "\($0.utf8.count):\($0)" }.joined()
    return String(UInt64(bitPattern: ContentHash.of(text)), radix: 16)
  }
}

extension WriteTransaction {
  /// Takes from what follows what a request does without.
  func leaveOut(_ options: Set<BatchOption>) {
    if options.contains(.validation) { keepsRules = false }
    if options.contains(.history) { recordsHistory = false }
  }
}

extension StoreError {
  /// The same error, saying which of many it is about.
  func about(_ what: String, _ name: String) -> StoreError {
    var error = StoreError(
      code, summary, [(what, name)] + context, advice: advice, underlying: underlying,
      object: object, property: property)
    error.others = others
    return error
  }
}

extension BatchRequestOptions {
  /// Drops the progress of a batch that was told to keep it.
  ///
  /// - Parameter kind: `update`, `delete` or `insert`.
  package static func dropProgress(
    ofBatch kind: String, named name: String, in transaction: WriteTransaction
  ) throws {
    try ChunkedWrite<BatchFrontier>(name: "batch.\(kind):\(name)").finish(in: transaction)
  }
}
