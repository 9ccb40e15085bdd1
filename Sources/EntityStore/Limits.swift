/// The bounds of the store, each with its reason.
public enum Limits {
  /// LMDB's compiled-in key size.
  package static let keyBytesMax = 511
  /// Attributes of one entity: null bits and slot tables stay within a page.
  package static let attributesMax = 512
  /// Slots of one record layout: attributes, and those that were dropped since.
  static let slotsMax = 4_096
  /// Layouts of one entity: a record names its own in 16 bits.
  package static let layoutsMax = Int(UInt16.max)
  /// One record; larger payloads belong in files. LMDB itself would take 2 GiB.
  public static let recordBytesMax = 16 << 20
  /// Writes that share a commit. At 64 the flush is already a small part of each.
  static let writesPerCommitMax = 64
  /// Writes that count as one of these if they may be repeated, and so share a transaction.
  static let repeatableWritesPerWrite = 8
  /// Pauses, in microseconds, in which a commit waits for more writes to share it, while more come
  /// in each: together less than a flush takes.
  static let gatheringPause: UInt32 = 20
  static let gatheringPausesMax = 10
  /// A chunk stops adding rows after so long, so that another process's writer waits little.
  public static let chunkDuration = Duration.milliseconds(20)
  /// Records, and their bytes, that a migration step goes over in one transaction. What is larger
  /// is done in chunks, so that others have their turn to write.
  public static let recordsMigratedAtOnceMax = 2_000
  package static let bytesMigratedAtOnceMax = 4 << 20
  /// Chunks in which a step takes over what others change meanwhile, before it takes longer ones:
  /// who writes faster than it can follow must not keep it from its end.
  package static let settlingChunksMax = 50
  /// Buffered index changes of one transaction before they are applied.
  static let indexBufferBytesMax = 8 << 20
  /// Comparisons and their connectives that a `#Predicate` may become. Equal ones are left out, for
  /// which each is compared with all.
  static let translatedPredicatePartsMax = 1_024
  /// Records, and links, that one prefetch holds in memory.
  public static let prefetchedMax = 100_000
  /// Changes that a draft holds in memory, and that one save writes in one transaction.
  public static let pendingChangesMax = 100_000
  /// Records of one batch, where the request does not say how many.
  public static let batchRecords = 1_000
  /// Batches that lazy results keep: a list that is scrolled back and forth finds its rows again.
  static let batchesKept = 4
  /// Rows of a fetch for which room is made at once: a limit is often larger than what there is.
  @usableFromInline static let rowsReservedMax = 256
  /// Threads on which the asynchronous fetches of a store run. They mostly wait for the disk.
  static let fetchThreadsMax = 4
  /// Rows and entries between two looks at whether a fetch should end: some microseconds' worth.
  static let visitsPerCheck = 256
  /// Of a deleted record the history keeps the values that are not longer.
  static let historyValueBytesMax = 1_024
  static let historyAuthorBytesMax = 200
  /// Consumers of the history: each commit that drops some of it looks at all of them.
  public static let historyConsumersMax = 64
  /// Observing processes that one commit rings; others find it by their look every two seconds.
  static let observersRungMax = 256
  /// Rings that an observer takes off at once; the kernel's queue holds fewer.
  static let ringsDrainedMax = 1_024
  /// Attempts to bind a socket in a folder that others remove when they leave.
  static let socketBindingsMax = 16
  /// Named caches of sections in a store.
  public static let sectionCachesMax = 256
  /// What a named cache takes; larger ones are not kept.
  package static let sectionCacheBytesMax = 4 << 20
  /// Changed records that live results look at one by one: beyond, fetching again is cheaper.
  package static let changesFollowedMax = 10_000
  /// Rows that live results know behind a limit, at least and at most: as many as the limit
  /// between.
  package static let rowsBehindWindowMin = 16
  package static let rowsBehindWindowMax = 1_000
  /// Problems an integrity check lists before it only counts.
  public static let problemsListedMax = 100
}
