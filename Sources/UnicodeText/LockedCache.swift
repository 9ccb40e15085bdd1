import Glibc

/// A bounded cache of values that are shared by all threads.
///
/// It has a mutex of the system: the thread sanitizer cannot see `Synchronization.Mutex` on Linux,
/// and reports races where there are none.
// @unchecked: `values` is touched only under the mutex, whose address is fixed.
final class LockedCache<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let capacity: Int
  private var values: [Key: Value] = [:]

  init(capacity: Int) {
    self.capacity = capacity
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Returns the cached value of the key, or a new one, which is cached unless the cache is full.
  func value<E: Error>(of key: Key, make: () throws(E) -> Value) throws(E) -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if let value = values[key] { return value }
    let value = try make()
    if values.count < capacity { values[key] = value }
    return value
  }
}
