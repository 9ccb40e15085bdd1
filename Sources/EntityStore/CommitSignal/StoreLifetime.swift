import Synchronization

/// The state of a store: open or closed. Objects that may outlive the last reference to the store
/// hold it, too.
package final class StoreLifetime: Sendable {
  private let closed = Atomic<Bool>(false)

  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Checks that the store is open.
  ///
  /// - Throws: `closed`.
  package func checkOpen() throws(StoreError) {
    if isClosed { throw .closed }
  }

  func close() { closed.store(true, ordering: .releasing) }
}

extension StoreError {
  static var closed: StoreError { StoreError(.closed, "the store has been closed") }
}
