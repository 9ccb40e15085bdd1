import Glibc

/// A mutex for scopes that run a caller's closure; `Synchronization.Mutex` demands that what
/// such a closure returns be sent out of it.
// @unchecked: a pthread mutex is made for threads, and its address is fixed.
@usableFromInline
final class ThreadLock: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  @usableFromInline
  func lock() { pthread_mutex_lock(mutex) }
  @usableFromInline
  func unlock() { pthread_mutex_unlock(mutex) }
}

/// A value behind a lock. Like `Synchronization.Mutex`, whose Linux build the thread sanitizer
/// cannot see, so that it reports races where there are none.
// @unchecked: `value` is touched only under `lock`.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let lock = ThreadLock()
  @usableFromInline var value: Value

  package init(_ value: Value) { self.value = value }

  // Inlined into the callers' modules: the type of the value is known there.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
