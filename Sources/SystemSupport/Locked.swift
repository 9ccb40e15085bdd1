import Glibc

/// A mutex for a section of code, and for state that `Locked` cannot hold, because it is not
/// `Sendable`.
// @unchecked: a pthread mutex may be used by all threads, and its address does not change.
@usableFromInline
package final class ThreadLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  package init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  @usableFromInline
  package func lock() { pthread_mutex_lock(mutex) }
  @usableFromInline
  package func unlock() { pthread_mutex_unlock(mutex) }
}

/// A value that is protected by a lock. It replaces `Synchronization.Mutex`, whose Linux
/// implementation the thread sanitizer does not see, so that it reports races where there are none.
// @unchecked: `value` is touched only under `lock`. Public, because members of a package class are
// not inlined into other modules.
public final class Locked<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let lock = ThreadLock()
  @usableFromInline var value: Value

  package init(_ value: Value) { self.value = value }

  /// Runs `body` with exclusive access to the value. It must not call this method again.
  ///
  /// - Returns: The result of `body`.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
