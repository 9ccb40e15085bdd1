import EntityStore
import Glibc

/// An arena of keys, and the thread that sorts and writes it while another arena is filled.
///
/// One thread fills the arena, calls `start` and then `wait`, in this order.
final class KeyRunSorter {
  // SAFETY: `start` lends this to a thread, which alone touches `arena`, `number` and `result`
  // until `wait` has joined it.
  var arena: KeyArena
  private var result: Result<KeyRun, StoreError>?
  private var thread: pthread_t?

  private let folder: KeyRunFolder
  private let owner: String
  private var number = 0

  init(folder: KeyRunFolder, owner: String, capacity: Int) {
    self.folder = folder
    self.owner = owner
    arena = KeyArena(capacity: capacity)
  }

  /// Sorts and writes the keys, and empties the arena.
  func write(number: Int) throws(StoreError) -> KeyRun {
    self.number = number
    return try sortAndWrite().get()
  }

  /// Sorts and writes the keys on a new thread, or on this one if the system refuses a new thread.
  func start(number: Int) {
    self.number = number
    var thread = pthread_t()
    let refusal = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        // SAFETY: `start` retained it for this thread.
        Unmanaged<KeyRunSorter>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    if refusal == 0 {
      self.thread = thread
    } else {
      Unmanaged.passUnretained(self).release()
      run()
    }
  }

  /// Waits for the thread that was started.
  ///
  /// - Returns: `nil` if none was started.
  func wait() throws(StoreError) -> KeyRun? {
    if let thread { pthread_join(thread, nil) }
    thread = nil
    defer { result = nil }
    return try result?.get()
  }

  private func run() { result = sortAndWrite() }

  private func sortAndWrite() -> Result<KeyRun, StoreError> {
    Result { () throws(StoreError) in
      defer { arena.removeAll() }
      arena.sort()
      var file = try KeyRunFile(folder: folder, owner: owner, number: number)
      for position in 0..<arena.count { try file.append(arena[position]) }
      return try file.finish()
    }
  }
}
