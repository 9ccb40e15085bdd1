/// What became of each of many items.
public struct BatchOutcome<Input: Sendable, Output: Sendable>: Sendable {
  /// An item that was refused, and has changed nothing.
  public struct Failure: Sendable {
    /// The item's place among those that were passed, from 0.
    public let index: Int
    public let item: Input
    public let error: any Error
  }

  /// Of the items that were not refused, in the order in which they were passed.
  public private(set) var success: [Output] = []
  /// In the order in which the items were passed.
  public private(set) var failed: [Failure] = []

  mutating func add(_ result: Result<Output, any Error>, of item: Input, at index: Int) {
    switch result {
    case .success(let output): success.append(output)
    case .failure(let error): failed.append(Failure(index: index, item: item, error: error))
    }
  }
}
