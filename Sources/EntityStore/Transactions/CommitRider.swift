/// Work that goes along with commits that others have asked for.
///
/// When a commit is about to change records of an entity, its riders may add to it: what they write is
/// durable with the same flush, and is seen by whoever sees the change. They cannot make the commit fail:
/// each runs in a nested transaction of its own.
package struct CommitRider: Sendable {
  /// What a rider does with one commit.
  package struct Ride: Sendable {
    let body: @Sendable (WriteTransaction) throws -> Void
    let completion: @Sendable (Result<Void, any Error>) -> Void

    /// - Parameter completion: Called once, on the writer queue, after the commit, or with the error that
    ///   kept the ride or the whole commit from happening.
    package init(
      _ body: @escaping @Sendable (WriteTransaction) throws -> Void,
      completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
      self.body = body
      self.completion = completion
    }
  }

  let entity: String
  /// Called on the writer queue; `nil` to stay behind this time.
  let board: @Sendable () -> Ride?

  package init(onChangesOf entity: String, _ board: @escaping @Sendable () -> Ride?) {
    self.entity = entity
    self.board = board
  }
}

extension Store {
  /// - Returns: Ends the rides. One that has boarded already comes to its completion.
  package func add(_ rider: CommitRider) -> @Sendable () -> Void { writer.add(rider) }
}
