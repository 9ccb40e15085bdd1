public import DurableJobs
import EntityStore
public import FeedSync
import SystemSupport

extension JobHandlers {
  /// Registers the handlers of the jobs of this module.
  ///
  /// Work that blocks runs on threads of its own. After a cancellation each job ends at its next
  /// commit, page or file, and leaves what the documentation of its type says.
  ///
  /// - Parameter engine: Syncs feeds of the same store; without one, `SyncFeed` is left to other
  ///   runners.
  /// - Parameter compaction: Compacts the store; without one, `CompactStore` is discarded.
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
