import EntityStore

/// The keys of several sorted runs in one order, each once.
///
/// A tournament tree: of two runs that met, the inner node keeps the one that lost, so that the
/// next key takes one comparison on each level.
///
/// - Complexity: O(log runs) comparisons for each key; memory of one block for each run.
struct KeyMerge: ~Copyable {
  private let readers: UnsafeMutableBufferPointer<KeyRunReader>
  /// The losers of the inner nodes 1..<count; run `r` is the leaf `count + r`, and the node above
  /// node `n` is `n / 2`.
  private var losers: [Int]
  /// A run whose key equals one that another run gives before.
  private var isRepeated: [Bool]
  private var winner = 0
  private var hasBegun = false
  private var failure: StoreError?

  /// Opens all runs, strictly after the key.
  init(
    _ runs: [KeyRun], of owner: String, in folder: KeyRunFolder, after key: [UInt8]?
  ) throws(StoreError) {
    losers = Array(repeating: 0, count: runs.count)
    isRepeated = Array(repeating: false, count: runs.count)
    // SAFETY: slots are initialized from the first one on; the `deinit` of the value, or the
    // `catch` that stands for it, deinitializes as many.
    let readers = UnsafeMutableBufferPointer<KeyRunReader>.allocate(capacity: runs.count)
    var opened = 0
    do throws(StoreError) {
      for run in runs {
        readers.initializeElement(
          at: opened, to: try KeyRunReader(run, of: owner, in: folder))
        opened += 1
        if let key {
          try readers[opened - 1].seek(after: key)
        } else {
          try readers[opened - 1].advance()
        }
      }
    } catch {
      readers.extracting(..<opened).deinitialize()
      readers.deallocate()
      throw error
    }
    self.readers = readers
    playAll()
  }

  deinit {
    readers.deinitialize()
    readers.deallocate()
  }

  /// The next key; `nil` at the end. It is valid until the next call.
  ///
  /// - Throws: `damaged` if a run is not what was written; then every later call does.
  mutating func next() throws(StoreError) -> UnsafeRawBufferPointer? {
    if let failure { throw failure }
    if readers.isEmpty { return nil }
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
    var node = (readers.count + winner) / 2
    while node > 0 {
      if !wins(winner, losers[node]) { swap(&winner, &losers[node]) }
      node /= 2
    }
  }

  /// Plays the first tournament, from the leaves up.
  private mutating func playAll() {
    let count = readers.count
    var winners = Array(repeating: 0, count: count) + Array(0..<count)
    for node in stride(from: count - 1, to: 0, by: -1) {
      let (left, right) = (winners[2 * node], winners[2 * node + 1])
      let leftWins = wins(left, right)
      winners[node] = leftWins ? left : right
      losers[node] = leftWins ? right : left
    }
    if count > 1 { winner = winners[1] }
  }

  /// Whether the first run gives its key before the second. A draw marks the second.
  ///
  /// The marks are complete: while a key is the least, every other run that has it lost to a run
  /// with an equal key, as nothing less is there to lose to.
  @inline(__always)
  private mutating func wins(_ first: Int, _ second: Int) -> Bool {
    if readers[second].isAtEnd { return true }
    if readers[first].isAtEnd { return false }
    let order = compare(readers[first].key, readers[second].key)
    if order == 0 { isRepeated[second] = true }
    return order <= 0
  }
}
