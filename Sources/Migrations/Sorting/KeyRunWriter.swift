import EntityStore

/// Sorts keys that come in any order, in bounded memory: full arenas become sorted runs in scratch
/// files, which `KeyRuns.merge` reads as one sequence.
///
/// While one arena is sorted and written on a thread, the other one is filled. If the value is
/// destroyed before `finish`, its files are removed. After a kill, `KeyRunFolder.removeLeftovers`
/// removes them.
struct KeyRunWriter: ~Copyable {
  static let memoryMaxDefault = 64 << 20

  private let folder: KeyRunFolder
  private let owner: String
  private var filling: KeyRunSorter
  private var writing: KeyRunSorter
  private var runs: [KeyRun] = []
  private var nextNumber = 0
  /// The error of a write on the thread. Its keys are lost, so that the sort has failed.
  private var failure: StoreError?
  private var isFinished = false

  /// Creates the folder if it is missing, and removes the runs that the owner has there.
  ///
  /// - Parameters:
  ///   - owner: The name of the sort. One owner can have only one sort in progress at a time.
  ///   - memoryMax: Bytes of the two arenas, in which a key takes 16 bytes more than its length.
  ///     Sorting an arena takes up to 8 more bytes for each key, and merging more runs than can be
  ///     open takes 4 MiB.
  init(
    folder: KeyRunFolder, owner: String, memoryMax: Int = KeyRunWriter.memoryMaxDefault
  ) throws(StoreError) {
    self.folder = folder
    self.owner = owner
    filling = KeyRunSorter(folder: folder, owner: owner, capacity: memoryMax / 2)
    writing = KeyRunSorter(folder: folder, owner: owner, capacity: memoryMax / 2)
    try folder.prepare()
    try folder.removeRuns(of: owner)
  }

  deinit {
    guard !isFinished else { return }
    do {
      _ = try writing.wait()
      try folder.removeRuns(of: owner)
    } catch {
      // The sort failed or was abandoned, and its caller knows. `removeLeftovers` finds the files
      // that stay.
    }
  }

  /// Adds a key.
  ///
  /// - Parameter key: 1 to `StoreLimits.keyBytesMax` bytes.
  /// - Throws: `storage` if the key has another length; a storage failure, such as `diskFull`, if
  ///   the scratch files cannot be written. Then the sort has failed, and every later call throws
  ///   the same.
  @inline(__always)
  mutating func add(_ key: UnsafeRawBufferPointer) throws(StoreError) {
    guard 1...StoreLimits.keyBytesMax ~= key.count else { throw KeyRunWriter.invalidKey(key.count) }
    if !filling.arena.add(key) { try addToOther(key) }
  }

  /// Sorts and writes the remaining keys.
  ///
  /// - Returns: At most `KeyRuns.runsMax` durable runs: one if all keys fit into an arena, none if
  ///   there are no keys.
  consuming func finish() throws(StoreError) -> KeyRuns {
    try takeWritten()
    if filling.arena.count > 0 { runs.append(try filling.write(number: takeNumber())) }
    while runs.count > KeyRuns.runsMax { try mergeOldest() }
    try folder.flush()
    isFinished = true
    return KeyRuns(owner: owner, runs: runs)
  }

  private mutating func addToOther(_ key: UnsafeRawBufferPointer) throws(StoreError) {
    try takeWritten()
    filling.start(number: takeNumber())
    swap(&filling, &writing)
    // The arena is empty, and has room for the longest key.
    _ = filling.arena.add(key)
  }

  /// Waits for the thread and takes its run.
  private mutating func takeWritten() throws(StoreError) {
    if let failure { throw failure }
    do throws(StoreError) {
      if let run = try writing.wait() { runs.append(run) }
    } catch {
      failure = error
      throw error
    }
  }

  /// Merges the oldest runs into one: no more of them than necessary to stay below the limit.
  private mutating func mergeOldest() throws(StoreError) {
    let count = min(KeyRuns.runsMax, runs.count - KeyRuns.runsMax + 1)
    let oldest = Array(runs.prefix(count))
    var merge = try KeyMerge(oldest, of: owner, in: folder, after: nil)
    var file = try KeyRunFile(folder: folder, owner: owner, number: takeNumber())
    while let key = try merge.next() { try file.append(key) }
    runs.append(try file.finish())
    runs.removeFirst(count)
    for run in oldest { try folder.removeRun(owner: owner, number: run.number) }
  }

  private mutating func takeNumber() -> Int {
    defer { nextNumber += 1 }
    return nextNumber
  }

  private static func invalidKey(_ count: Int) -> StoreError {
    StoreError(
      .storage, "a key is empty or longer than 511 bytes", [("bytes", "\(count)")],
      advice: "shorten the key")
  }
}
