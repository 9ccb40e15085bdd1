public import DurableJobs
import EntityStore
public import FeedSync
import SystemSupport

extension JobHandlers {
  /// Registers who runs the jobs of this module.
  ///
  /// What blocks runs on threads of its own. Cancelled or stopped, each of these jobs ends at its next
  /// commit, page or file, and leaves what its type says.
  ///
  /// - Parameter engine: Who syncs feeds, of the same store; without one, `SyncFeed` is left to other
  ///   runners.
  /// - Parameter compaction: Who can compact the store; without one, `CompactStore` is discarded.
  public mutating func handleStoreJobs(
    sync engine: SyncEngine? = nil, compact compaction: StoreCompaction? = nil
  ) {
    if let engine { handle(SyncFeed.self) { try await $0.run($1, by: engine) } }
    let files = BoundedThreads("mooring.file", threadsMax: 2)
    handle(InsertRecords.self) { try await $0.run($1, on: files) }
    handle(UpdateRecords.self) { try await $0.run($1) }
    handle(DeleteRecords.self) { try await $0.run($1) }
    handle(DurableFetch.self) { try await $0.run($1) }
    handle(ExportFetch.self) { try await $0.run($1, on: files) }
    handleBlocking(BuildIndexes.self) { try $0.run($1) }
    handle(PruneStore.self) { try await $0.run($1) }
    handle(CompactStore.self) { try await $0.run($1, by: compaction) }
    handleBlocking(BackUpStore.self) { try $0.run($1) }
    handleBlocking(CheckStore.self) { try $0.run($1) }
  }
}

extension QueueName {
  /// Of the syncs, so that a limit of the queue is one of the network.
  public static let sync: QueueName = "sync"
  /// Of what keeps the store in shape.
  public static let maintenance: QueueName = "maintenance"
}
