import Dispatch
import EntityModel
import EntityStore
import Synchronization
import SystemSupport

/// Reads the keys of an index under construction from snapshots and sorts them in scratch files,
/// outside of any write transaction.
struct IndexSort: Sendable {
  let store: Store
  let entityName: String
  let index: IndexDescription
  /// The number of the index within the work.
  let number: Int
  let memoryMax: Int
  let isCancelled: @Sendable () -> Bool

  /// Sorts the keys.
  ///
  /// - Parameter progress: Called with the number of records that were read so far.
  /// - Returns: The runs, and the number of records.
  /// - Throws: `CancellationError`; the error of `progress`; `damaged` for a record that cannot be
  ///   read; a storage failure. The scratch files are removed then.
  func run(_ progress: (Int64) throws -> Void) throws -> (runs: KeyRuns, records: Int64) {
    var writer = try KeyRunWriter(
      folder: KeyRunFolder(ofStore: store.folder), owner: EntityLayout.treeName(of: index),
      memoryMax: memoryMax)
    var records: Int64 = 0
    var last = Int64.min
    var more = true
    while more {
      if isCancelled() { throw CancellationError() }
      // The snapshot is renewed at intervals, so that pages that are replaced in between can be
      // reused.
      let chunk = ChunkBudget(duration: Self.snapshotDuration)
      more = try store.read { transaction in
        let entity = try transaction.catalog.entity(entityName)
        let index = try entity.indexUnderConstruction(index)
        return try IndexKeys(index: index, entity: entity).eachKey(
          after: &last, rows: &records, in: transaction, while: { chunk.hasRoom }
        ) { try writer.add($0) }
      }
      try progress(records)
    }
    return (try writer.finish(), records)
  }

  /// The longest time for which a snapshot is held while keys are read.
  private static let snapshotDuration = Duration.milliseconds(200)

  /// Sorts the keys on a thread of its own.
  func start() -> Running { Running(self) }

  /// A sort on a thread of its own.
  final class Running: Sendable {
    /// The number of the index within the work.
    let number: Int
    private let outcome = Locked<Result<(runs: KeyRuns, records: Int64), any Error>?>(nil)
    private let end = DispatchGroup()
    private let isAbandoned = Atomic<Bool>(false)

    fileprivate init(_ sort: IndexSort) {
      number = sort.number
      end.enter()
      BoundedThreads("mooring.sort", threadsMax: 1).submit { [self] in
        let result = Result {
          try sort.run { _ in
            if isAbandoned.load(ordering: .relaxed) { throw CancellationError() }
          }
        }
        outcome.withLock { $0 = result }
        end.leave()
      }
    }

    /// Waits for the end of the sort.
    ///
    /// - Throws: As `run`.
    func result() throws -> (runs: KeyRuns, records: Int64) {
      end.wait()
      guard let result = outcome.withLock({ $0 }) else { throw CancellationError() }
      return try result.get()
    }

    /// Ends the sort and waits for its thread. Runs that were complete stay until the next sort of
    /// the index removes them.
    func abandon() {
      isAbandoned.store(true, ordering: .relaxed)
      end.wait()
    }
  }
}
