/// The limits of the store, each with its reason.
public enum StoreLimits {
  /// The maximum size of a key, which is compiled into LMDB.
  package static let keyBytesMax = 511
  /// The maximum number of entities and indexes of a store together. Each has a tree, and each
  /// transaction looks at all trees.
  package static let entitiesAndIndexesMax = 16_000
  /// The maximum number of attributes of one entity: null bits and slot tables stay within a page.
  package static let attributesMax = 512
  /// The maximum number of slots of one record layout: current and dropped attributes.
  static let slotsMax = 4_096
  /// The maximum number of layouts of one entity: a row stores its layout version in 16 bits.
  package static let layoutsMax = Int(UInt16.max)
  /// The maximum size of one row; larger payloads belong in files. LMDB itself would accept 2 GiB.
  public static let recordBytesMax = 16 << 20
  /// The maximum number of writes in one commit. At 64 the flush is already a small part of each.
  static let writesPerCommitMax = 64
  /// The number of repeatable writes that count as one write, because they share a transaction.
  static let repeatableWritesPerWrite = 8
  /// The pause, in microseconds, in which a commit waits for more writes to share it. It is
  /// repeated while each pause brings more writes; all pauses together are shorter than a flush.
  static let gatheringPause: UInt32 = 20
  static let gatheringPausesMax = 10
  /// The time for which the writer's thread waits for the next write after one that came within
  /// twice this time after a commit.
  static let expectation = Duration.microseconds(50)
  /// The time after which a chunk of long work ends. The work then commits if another writer waits,
  /// and otherwise begins the next chunk in the same transaction (see `CommitBudget`).
  public static let chunkDuration = Duration.milliseconds(20)
  /// The time after which a transaction takes no further chunks. A kill loses at most the work of
  /// this time.
  public static let commitDuration = Duration.seconds(1)
  /// The same for a store with a commit log, where those who wait on other machines cannot be seen.
  /// The entry takes another machine about as long to apply, and later ones wait for it.
  package static let turnDuration = Duration.milliseconds(30)
  /// The most pages, as estimated, that a transaction of several chunks changes. A commit of 5,000
  /// pages takes 25 to 40 ms, and LMDB keeps the memory of the pages of its largest commit: 20 MB.
  package static let dirtyPagesMax = 5_120
  /// The same for a load. Its rows lie on random pages of the unique indexes, so that each commit
  /// writes most of them: 1,000,000 rows were inserted in 60 commits in half the time of 140. With
  /// three times as many pages it was no faster.
  package static let loadDirtyPagesMax = 16_384
  /// The number of index changes that may wait at the end of a chunk. Applying so many takes about
  /// 10 ms.
  static let indexChangesMax = 8_192
  /// The number of records, and their total bytes, that a migration step scans in one transaction.
  /// Larger entities are processed in chunks, so that other processes can write in between.
  public static let recordsMigratedAtOnceMax = 2_000
  package static let bytesMigratedAtOnceMax = 4 << 20
  /// The number of chunks in which a step catches up with concurrent changes before it uses longer
  /// chunks. A process that writes faster than the step can follow must not keep it from finishing.
  package static let catchUpChunksMax = 50
  /// The maximum size of the index changes that a transaction buffers before it applies them.
  static let indexBufferBytesMax = 8 << 20
  /// The maximum number of key bytes for which a buffer keeps memory between transactions, and the
  /// maximum number of entities whose buffers are kept.
  static let idleBufferBytesMax = 64 << 10
  static let idleBuffersMax = 8
  /// The maximum number of comparisons and connectives that a `#Predicate` may become. Equal parts
  /// are removed, for which each part is compared with all others.
  static let translatedPredicatePartsMax = 1_024
  /// The maximum number of records, and of links, that one prefetch holds in memory.
  public static let prefetchedMax = 100_000
  /// The maximum number of changes that a draft holds in memory and that one save writes in one
  /// transaction.
  public static let pendingChangesMax = 100_000
  /// The number of records in one batch if the request does not specify it.
  public static let batchRecords = 1_000
  /// The number of batches that `FetchedBatches` caches, so that a list that is scrolled back and
  /// forth finds its rows again.
  static let batchesKept = 4
  /// The number of rows of a fetch for which memory is reserved at once: a limit is often larger
  /// than the result.
  @usableFromInline static let rowsReservedMax = 256
  /// The maximum number of threads for the asynchronous fetches of a store. They mostly wait for
  /// the disk.
  static let fetchThreadsMax = 4
  /// The number of rows and entries between two checks whether a fetch should end: some
  /// microseconds of work.
  static let visitsPerCheck = 256
  /// The number of records that a fetch looks up together.
  static let recordsAhead = 32
  /// The maximum size of a deleted record's value that the history stores.
  static let historyValueBytesMax = 1_024
  static let historyAuthorBytesMax = 200
  /// The maximum number of consumers of the history: each commit that drops old history reads all
  /// of them.
  public static let historyConsumersMax = 64
  /// The maximum number of observing processes that one commit notifies; the others find the commit
  /// by their poll every two seconds.
  static let observersNotifiedMax = 256
  /// The number of notifications that an observer reads at once; the kernel's queue holds fewer.
  static let notificationsDrainedMax = 1_024
  /// The number of attempts to bind a socket in a folder that other processes remove when they
  /// leave.
  static let socketBindingsMax = 16
  /// The maximum number of named section caches in a store.
  public static let sectionCachesMax = 256
  /// The maximum size of a named section cache; larger ones are not stored.
  package static let sectionCacheBytesMax = 4 << 20
  /// The number of changed records up to which live results check them one by one; beyond that,
  /// fetching again is cheaper.
  package static let changesFollowedMax = 10_000
  /// The minimum and the maximum number of rows after a limit that live results hold. Between these
  /// bounds, they hold as many rows as the limit.
  package static let rowsAfterLimitMin = 16
  package static let rowsAfterLimitMax = 1_000
  /// The number of problems that an integrity check lists; it only counts the ones after that.
  public static let problemsListedMax = 100
}
