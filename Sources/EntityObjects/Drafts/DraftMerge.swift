import EntityModel
import EntityStore

/// Combines the draft's version of a record with the stored one, by a merge policy.
struct DraftMerge {
  /// The change that the save makes to the record.
  enum Outcome: Equatable {
    case nothing
    /// Updates values, by attribute position.
    case update([Int: Value])
    /// Inserts the record under its own number.
    case insert([Value])
    case delete
  }

  let policy: MergePolicy
  let entity: EntityLayout
  /// The positions of attributes that the store sets. They are no part of a draft's changes.
  private let places: Set<Int>

  init(_ policy: MergePolicy, _ entity: EntityLayout) {
    self.policy = policy
    self.entity = entity
    places = Set(entity.references.compactMap(\.order?.position))
  }

  /// Merges one record.
  ///
  /// - Parameter base: The stored values when the draft first changed the record.
  /// - Parameter draft: The draft's values; `nil` for a deleted record.
  /// - Parameter stored: The values that are stored now; `nil` if the record is gone.
  /// - Returns: The change to be made.
  /// - Throws: The conflicts, with the policy `error`.
  func merge(
    _ id: Int64, base: [Value], draft: [Value]?, stored: [Value]?
  ) -> Result<Outcome, DraftConflicts> {
    let theirs = stored.map { changed($0, from: base) } ?? []
    let isUntouched = stored != nil && theirs.isEmpty
    switch (draft, stored) {
    case (nil, nil): return .success(.nothing)
    case (nil, _?) where isUntouched: return .success(.delete)
    case (let draft?, let stored?) where isUntouched || changed(draft, from: stored).isEmpty:
      return .success(update(stored, to: draft))
    default: break
    }
    switch policy {
    case .error: return .failure(conflicts(id, base, draft, stored, theirs))
    case .rollback: return .success(.nothing)
    case .storeWins:
      guard let draft, let stored else { return .success(.nothing) }
      var row = stored
      for position in changed(draft, from: base) where !theirs.contains(position) {
        row[position] = draft[position]
      }
      return .success(update(stored, to: row))
    case .draftWins:
      guard let draft else { return .success(.delete) }
      guard let stored else { return .success(.insert(draft)) }
      var row = stored
      for position in changed(draft, from: base) { row[position] = draft[position] }
      return .success(update(stored, to: row))
    case .overwrite:
      guard let draft else { return .success(.delete) }
      return .success(stored.map { update($0, to: draft) } ?? .insert(draft))
    }
  }

  private func update(_ stored: [Value], to row: [Value]) -> Outcome {
    let positions = changed(row, from: stored)
    if positions.isEmpty { return .nothing }
    return .update(Dictionary(uniqueKeysWithValues: positions.map { ($0, row[$0]) }))
  }

  /// Returns the positions at which two rows differ.
  private func changed(_ row: [Value], from other: [Value]) -> [Int] {
    row.indices.filter { row[$0] != other[$0] && !places.contains($0) }
  }

  private func conflicts(
    _ id: Int64, _ base: [Value], _ draft: [Value]?, _ stored: [Value]?, _ theirs: [Int]
  ) -> DraftConflicts {
    let object = ObjectID(entity: entity.name, number: id)
    guard let stored else { return DraftConflicts(errors: [.deletedElsewhere(object)]) }
    return DraftConflicts(
      errors: theirs.map { position in
        .conflict(
          object, entity.description.attributes[position].name, base: base[position],
          stored: stored[position], draft: draft?[position])
      })
  }
}

/// The conflicts of one record; there is at least one.
struct DraftConflicts: Error {
  let errors: [StoreError]
}

extension StoreError {
  fileprivate static func deletedElsewhere(_ object: ObjectID) -> StoreError {
    StoreError(
      .conflict, "a record that the draft has changed was deleted by another writer",
      [("record", object.description)], advice: conflictAdvice, object: object)
  }

  /// Returns the error for one attribute in conflict.
  ///
  /// - Parameter draft: The draft's value; `nil` if the draft has deleted the record.
  fileprivate static func conflict(
    _ object: ObjectID, _ attribute: String, base: Value, stored: Value, draft: Value?
  ) -> StoreError {
    StoreError(
      .conflict, "a record that the draft has changed was changed by another writer",
      [
        ("record", object.description), ("attribute", attribute), ("was", base.shortText),
        ("is", stored.shortText), ("draft", draft?.shortText ?? "deleted"),
      ], advice: conflictAdvice, object: object, property: attribute)
  }

  static var conflictAdvice: String { "roll the record back, or choose a merge policy" }
}

extension Value {
  /// A text short enough for an error of one line, and long enough to recognize the value.
  fileprivate var shortText: String {
    let text = text
    return text.count > 60 ? text.prefix(60) + "…" : text
  }
}
