import Dispatch

/// Computes the next value on another thread while the last one is used. An error is thrown in
/// place of its value and ends the sequence.
final class ReadAhead<Element> {
  private final class Maker: @unchecked Sendable {
    // SAFETY: both are touched on the queue only; the owner of what the closure captures leaves it
    // alone for as long as there is the `ReadAhead`, which waits for the queue at its end.
    let make: () throws -> Element
    var result: Result<Element, any Error>?

    init(_ make: @escaping () throws -> Element) { self.make = make }
  }

  private let queue = DispatchQueue(label: "import.read")
  private let maker: Maker

  init(_ make: @escaping () throws -> Element) {
    maker = Maker(make)
    begin()
  }

  deinit { queue.sync {} }

  /// Returns the next value, and blocks until it is available.
  func next() throws -> Element {
    let element = try queue.sync {
      guard let result = maker.result else { throw CancellationError() }
      return try result.get()
    }
    begin()
    return element
  }

  private func begin() {
    let maker = maker
    queue.async { maker.result = Result { try maker.make() } }
  }
}
