import Dispatch
import SystemSupport

/// Computes the next value on another thread while the last one is used. An error is thrown in
/// place of its value and ends the sequence.
final class ReadAhead<Element> {
  private final class Maker: @unchecked Sendable {
    // SAFETY: `make` is called on the queue only, and the owner of what it captures leaves that
    // alone for as long as there is the `ReadAhead`, which waits for the queue at its end. `value`
    // is touched under `lock` only.
    let make: () throws -> Element
    private let lock = ThreadLock()
    private var value: Result<Element, any Error>?

    init(_ make: @escaping () throws -> Element) { self.make = make }

    var result: Result<Element, any Error>? {
      get {
        lock.lock()
        defer { lock.unlock() }
        return value
      }
      set {
        lock.lock()
        defer { lock.unlock() }
        value = newValue
      }
    }
  }

  private let queue = DispatchQueue(label: "import.read")
  private let maker: Maker

  init(_ make: @escaping () throws -> Element) {
    maker = Maker(make)
    begin()
  }

  deinit { queue.sync {} }

  /// Returns the next value, and blocks until it is available.
  ///
  /// - Throws: The error in its place.
  func next() throws -> Element {
    queue.sync {}
    guard let element = try maker.result?.get() else { throw CancellationError() }
    begin()
    return element
  }

  /// Returns the next value if it has been computed already, otherwise `nil`, also for an error,
  /// which `next` throws.
  func nextIfReady() -> Element? {
    guard case .success(let element) = maker.result else { return nil }
    begin()
    return element
  }

  private func begin() {
    let maker = maker
    maker.result = nil
    queue.async { maker.result = Result { try maker.make() } }
  }
}
