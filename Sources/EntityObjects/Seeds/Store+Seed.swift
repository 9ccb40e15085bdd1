public import EntityStore
public import Foundation
import SystemSupport

/// The result of a call of `Store.seed`.
public enum SeedOutcome: Hashable, Sendable {
  /// The objects were inserted; their number by entity.
  case applied([String: Int])
  /// A seed of this name was applied before, at the given time and with the given number of
  /// objects. Nothing was written, and the file was not read.
  case appliedBefore(at: Date, objects: Int)
}

extension Store {
  /// Inserts the objects of a file into the store, once in the life of the store.
  ///
  /// The format is JSON, YAML (the dialect of migrations) or a property list, depending on the
  /// extension: `json`, `yaml` or `yml`, `plist`. The file has a list of objects for each entity.
  /// Attributes are written as in migrations; missing ones get their defaults. Another record is
  /// named by the attributes of one of its unique indexes, if it is in the file or in the store, or
  /// by the label of an object of the file. The value of a to-many relationship is a list of such
  /// names.
  ///
  /// ```yaml
  /// Dog:
  ///   - { $label: fido, name: Fido }
  /// Walk:
  ///   - { date: 2026-01-31T09:00:00Z, dog: { $label: fido } }
  ///   - { date: 2026-02-01T09:00:00Z, dog: { name: Fido } }
  /// ```
  ///
  /// Everything is written in one transaction, together with a record of the seed; other writers
  /// wait for it. If several processes start at the same time, only one of them applies the seed,
  /// and records that are deleted later are not inserted again. A file has at most 64 MiB.
  ///
  /// - Parameter name: The name by which the store remembers the seed, up to 200 characters.
  /// - Throws: `seed` for a file that cannot be read, with the place in it; `validation`,
  ///   `uniqueViolation` and others for an object that the store refuses, with its place; the
  ///   errors of `write`. Nothing was written then.
  public func seed(
    from path: String, named name: String, author: String? = nil
  ) async throws -> SeedOutcome {
    let seed = try SeedRecord(name: name)
    if let before = try await readAsynchronously({ try seed.outcome(in: $0) }) { return before }
    // Reading a file blocks its thread, like a fetch.
    let plan = try await withCheckedThrowingContinuation { continuation in
      fetchThreads.submit {
        continuation.resume(
          with: Result { try SeedFile(path: path).plan(for: self.schema, now: self.options.now()) })
      }
    }
    return try await write(author: author) { transaction in
      if let before = try seed.outcome(in: transaction) { return before }
      var writer = SeedWriter(plan, in: transaction)
      try writer.run()
      let counts = plan.counts
      try seed.write(objects: counts.values.reduce(0, +), in: transaction)
      return .applied(counts)
    }
  }
}
