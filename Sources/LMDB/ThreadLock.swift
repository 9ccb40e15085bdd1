import Glibc

/// A mutex for scopes that run a caller's closure; `Synchronization.Mutex` demands that what
/// such a closure returns be sent out of it.
// @unchecked: a pthread mutex is made for threads, and its address is fixed.
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

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
}

/// A value behind a lock. Like `Synchronization.Mutex`, whose Linux build the thread sanitizer
/// cannot see, so that it reports races where there are none.
// @unchecked: `value` is touched only under `lock`.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
  private let lock = ThreadLock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
