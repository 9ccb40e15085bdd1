import SystemSupport

/// Locks that reveal work that two processes do at the same time, of any machines of a test.
///
/// They are created before the process takes the lock of the work itself: the kernel closes the
/// files of a process in the order of their descriptors, so these locks are released before another
/// process can take the work over.
final class RunLocks: Sendable {
  private let file: FileLock
  private let running = Locked<Set<Int>>([])

  init(_ path: String) throws { file = try FileLock(path) }

  func during<R>(_ number: Int, _ body: () async throws -> R) async rethrows -> R {
    let region = FileLock.Region.bytes(from: number, count: 1)
    let isAlone = running.withLock { $0.insert(number).inserted }
    if !isAlone || (try? file.take(region)) != true { say("twice \(number)") }
    defer {
      file.release(region)
      running.withLock { _ = $0.remove(number) }
    }
    return try await body()
  }
}
