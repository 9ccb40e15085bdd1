import Synchronization

/// Whether a store is still open. Held also by what may outlive the last reference to the store.
package final class StoreLifetime: Sendable {
  private let closed = Atomic<Bool>(false)

  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// - Throws: `closed`.
  package func checkOpen() throws(StoreError) {
    if isClosed { throw .closed }
  }

  func close() { closed.store(true, ordering: .releasing) }
}

extension StoreError {
  static var closed: StoreError { StoreError(.closed, "the store has been closed") }
}
