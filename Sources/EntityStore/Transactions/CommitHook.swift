/// Adds writes to the commits of others.
///
/// When a commit is about to change records of an entity, the hook may write in it, too: what it writes
/// is durable with the same flush, and visible together with the change. It cannot make the commit fail,
/// because it writes in a nested transaction of its own.
///
/// All calls come from the store's writer queue, in the order in which they are declared here.
package protocol CommitHook: Sendable {
  /// The name of the entity.
  var entity: String { get }

  /// - Returns: `false` to leave this commit alone: then no other call follows for it.
  func begin() -> Bool

  func write(in transaction: WriteTransaction) throws

  /// Called once after the commit, or with the error of `write` or of the whole commit.
  func publish(_ result: Result<Void, any Error>)
}

extension Store {
  /// - Returns: A closure that removes the hook. A commit that has begun the hook still publishes.
  package func add(_ hook: some CommitHook) -> @Sendable () -> Void { writer.add(hook) }
}
