import EntityStore

/// The keys of several sorted runs in one order, each once.
///
/// The merge is a tournament tree: of two runs that were compared, the inner node keeps the loser,
/// so that the next key takes one comparison on each level.
///
/// - Complexity: O(log runs) comparisons for each key; memory of one block for each run.
struct KeyMerge: ~Copyable {
  // No buffer pointer: with the thread sanitizer the compiler (Swift 6.3.1) fails on one here.
  private let readers: UnsafeMutablePointer<KeyRunReader>
  private let count: Int
  /// The losers of the inner nodes 1..<count. Run `r` is the leaf `count + r`, and the parent of
  /// node `n` is `n / 2`.
  private var losers: [Int]
  /// True for a run whose current key equals one that another run returns first.
  private var isRepeated: [Bool]
  private var winner = 0
  private var hasBegun = false
  private var failure: StoreError?

  /// Opens all runs, positioned at the first key that is greater than the given one.
  init(
    _ runs: [KeyRun], of owner: String, in folder: KeyRunFolder, after key: [UInt8]?
  ) throws(StoreError) {
    losers = Array(repeating: 0, count: runs.count)
    isRepeated = Array(repeating: false, count: runs.count)
    // SAFETY: slots are initialized from the first one on, and as many are deinitialized by the
    // `deinit` of the value, or by the `catch` if there is no value yet.
    let readers = UnsafeMutablePointer<KeyRunReader>.allocate(capacity: runs.count)
    var opened = 0
    do throws(StoreError) {
      for run in runs {
        var reader = try KeyRunReader(run, of: owner, in: folder)
        if let key { try reader.seek(after: key) } else { try reader.advance() }
        (readers + opened).initialize(to: reader)
        opened += 1
      }
    } catch {
      readers.deinitialize(count: opened)
      readers.deallocate()
      throw error
    }
    self.readers = readers
    count = runs.count
    playAll()
  }

  deinit {
    readers.deinitialize(count: count)
    readers.deallocate()
  }

  /// Returns the next key; `nil` at the end. It is valid until the next call.
  ///
  /// - Throws: `damaged` if a run is not as it was written; then every later call throws it, too.
  mutating func next() throws(StoreError) -> UnsafeRawBufferPointer? {
    if let failure { throw failure }
    if count == 0 { return nil }
    do throws(StoreError) {
      if hasBegun { try advance() }
      hasBegun = true
      while isRepeated[winner] { try advance() }
    } catch {
      failure = error
      throw error
    }
    return readers[winner].isAtEnd ? nil : readers[winner].key
  }

  private mutating func advance() throws(StoreError) {
    isRepeated[winner] = false
    if readers[winner].isAtEnd { return }
    try readers[winner].advance()
    var node = (count + winner) / 2
    while node > 0 {
      if !wins(winner, losers[node]) { swap(&winner, &losers[node]) }
      node /= 2
    }
  }

  /// Plays the first tournament, from the leaves up.
  private mutating func playAll() {
    var winners = Array(repeating: 0, count: count) + Array(0..<count)
    for node in stride(from: count - 1, to: 0, by: -1) {
      let (left, right) = (winners[2 * node], winners[2 * node + 1])
      let leftWins = wins(left, right)
      winners[node] = leftWins ? left : right
      losers[node] = leftWins ? right : left
    }
    if count > 1 { winner = winners[1] }
  }

  /// Returns true if the first run's key is not greater than the second's. If the keys are equal,
  /// the second run is marked as repeated.
  ///
  /// No mark is missed: while a key is the least, every other run with that key has lost to a run
  /// with an equal key, because no smaller key exists.
  @inline(__always)
  private mutating func wins(_ first: Int, _ second: Int) -> Bool {
    if readers[second].isAtEnd { return true }
    if readers[first].isAtEnd { return false }
    let order = compare(readers[first].key, readers[second].key)
    if order == 0 { isRepeated[second] = true }
    return order <= 0
  }
}
