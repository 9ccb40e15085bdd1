import DurableJobs
import EntityStore
import SystemSupport

/// The items of a file, read some hundreds at a time on threads for files.
struct BatchFileItems: AsyncSequence, Sendable {
  typealias Element = BatchFileItem

  private let file: BatchFile
  private let threads: BoundedThreads

  init(_ file: BatchFile, on threads: BoundedThreads) {
    self.file = file
    self.threads = threads
  }

  func makeAsyncIterator() -> Iterator { Iterator(file, threads) }

  struct Iterator: AsyncIteratorProtocol {
    private let reader: Reader
    private let threads: BoundedThreads
    private var items: ArraySlice<BatchFileItem> = []
    private var end: Result<Void, any Error>?

    fileprivate init(_ file: BatchFile, _ threads: BoundedThreads) {
      reader = Reader(file)
      self.threads = threads
    }

    /// - Throws: The errors of `BatchFile`, after the items before them.
    mutating func next() async throws -> BatchFileItem? {
      if items.isEmpty, end == nil {
        let (items, end) = try await threads.run { [reader] in reader.read() }
        self.items = items[...]
        self.end = end
      }
      if let item = items.popFirst() { return item }
      try end?.get()
      return nil
    }
  }

  /// The iterator of the file, which moves from thread to thread.
  // @unchecked: `iterator` is touched only under `lock`.
  private final class Reader: @unchecked Sendable {
    private let lock = ThreadLock()
    private var iterator: BatchFile.Iterator

    init(_ file: BatchFile) { iterator = file.makeAsyncIterator() }

    /// - Returns: The next items, and the end of the file or its error, if it was reached.
    func read() -> ([BatchFileItem], Result<Void, any Error>?) {
      lock.lock()
      defer { lock.unlock() }
      var items: [BatchFileItem] = []
      do {
        while items.count < Limits.itemsAtOnce {
          guard let item = try iterator.nextItem() else { return (items, .success(())) }
          items.append(item)
        }
        return (items, nil)
      } catch {
        return (items, .failure(error))
      }
    }
  }
}
