public import EntityStore
public import Foundation
import SystemSupport

/// What a call of `Store.seed` has done.
public enum SeedOutcome: Hashable, Sendable {
  /// The objects are in the store now: their numbers by entity.
  case applied([String: Int])
  /// A seed of this name was applied before: then, with so many objects. Nothing was written, and
  /// the file was not read.
  case appliedBefore(at: Date, objects: Int)
}

extension Store {
  /// Puts the objects of a file into the store, once in the life of the store.
  ///
  /// The file is JSON, YAML (the dialect of migrations) or a property list, as its extension says:
  /// `json`, `yaml` or `yml`, `plist`. It has a list of objects for each entity. An attribute is
  /// written as in migrations, and one that is left out gets its default. Another record is named
  /// by the attributes of one of its unique indexes, whether it is in the file or in the store, or
  /// by the label of an object of the file; what a to-many relationship leads to is a list of
  /// those.
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
  /// wait for it. So of several processes that start at once one writes it, and what is deleted
  /// later is not seeded again. A file has up to 64 MiB.
  ///
  /// - Parameter name: By which the seed is known from then on: up to 200 characters.
  /// - Throws: `seed` for a file that cannot be read, with the place in it; `validation`,
  ///   `uniqueViolation` and others for an object that the store refuses, with its place; the
  ///   errors of `write`. Nothing was written then.
  public func seed(
    from path: String, named name: String, author: String? = nil
  ) async throws -> SeedOutcome {
    let seed = try SeedRecord(name: name)
    if let before = try await readAsynchronously({ try seed.outcome(in: $0) }) { return before }
    // Reading a file blocks, as a fetch does.
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
