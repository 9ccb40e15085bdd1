import Dispatch

/// A point at which one thread blocks until a test opens it. The test can wait for its arrival.
package final class Gate: Sendable {
  private let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
  private let opened = DispatchSemaphore(value: 0)

  package init() {}

  /// Called by the thread that stops here.
  package func pass() {
    arrival.yield()
    opened.wait()
  }

  package func waitForArrival() async {
    var iterator = arrivals.makeAsyncIterator()
    await iterator.next()
  }

  package func open() { opened.signal() }
}
