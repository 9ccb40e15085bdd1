import LMDB

/// The space that a store has to grow.
package struct StoreSpace: Sendable {
  /// The bytes of all pages up to the last one that was ever used.
  package let usedBytes: Int
  /// The bytes of the pages that writes reuse before the file grows.
  package let reusableBytes: Int
  /// The size of the address space.
  package let mapBytes: Int
  /// The free bytes of the volume for this user; `nil` if the system does not report them.
  package let volumeBytes: Int?
}

extension Store {
  /// Returns the space that the store has on a snapshot.
  ///
  /// - Complexity: O(entries of the free list).
  package func space(in transaction: ReadTransaction) throws -> StoreSpace {
    let information = try environment.information()
    return StoreSpace(
      usedBytes: information.pagesUsed * information.pageSize,
      reusableBytes: try environment.freePages(in: transaction.transaction) * information.pageSize,
      mapBytes: information.mapSize, volumeBytes: environment.freeBytesOfVolume)
  }

  /// The bytes of all pages up to the last one that was ever used. Only the meta page is read
  /// through the map, so that a damaged store has this number, too.
  package var usedBytes: Int {
    get throws {
      let information = try environment.information()
      return information.pagesUsed * information.pageSize
    }
  }

  /// The free bytes that users other than the administrator have on the volume of the store; `nil`
  /// if the system does not report them.
  package var freeBytesOfVolume: Int? { environment.freeBytesOfVolume }

  /// Copies the last commit into the data file of another folder, while readers and writers
  /// continue. Must not be called within a write.
  ///
  /// - Parameter compacting: True to leave out free pages.
  /// - Parameter progress: Called about ten times a second with the number of copied bytes. Its
  ///   error ends the copy.
  /// - Throws: The errors of `progress`; `StorageError`. No file is left then.
  package func copyData(
    to folder: String, compacting: Bool, progress: (Int) throws -> Void
  ) throws {
    try environment.copy(toFolder: folder, compacting: compacting, progress: progress)
  }

  /// Runs a closure that reads many records that are neighbors, with read-ahead by the kernel.
  package func readingAhead<R>(_ body: () throws -> R) rethrows -> R {
    try environment.readingAhead(body)
  }
}
