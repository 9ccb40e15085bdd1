package import EntityModel
import LMDB

/// Buffers that the writer reuses in later transactions to save allocations. They belong to the
/// writer queue.
package final class WriterScratch {
  // SAFETY (`@exclusivity(unchecked)`): only the writer's thread uses this object, and a value that
  // is passed on from here is not accessed again before that call returns.
  @exclusivity(unchecked) package var record: [UInt8] = []
  @exclusivity(unchecked) var history = HistoryLog()
  @exclusivity(unchecked) var oldKey = KeyWriter()
  @exclusivity(unchecked) var newKey = KeyWriter()
  /// Counts record changes and transactions. A row that was looked up at the current step has not
  /// changed since. Never 0.
  @exclusivity(unchecked) var step = 1
  /// The record that was copied last, which is mostly the one that is updated next.
  @exclusivity(unchecked) var copied: CopiedRecord?
  /// The binding that typed writes have looked up for the type of the last one.
  @exclusivity(unchecked) var binding: AnyObject?
  /// The schema revision that has passed the check for writing.
  var checkedRevision: UInt64?
  /// The emptied changes of earlier transactions, all of one catalog.
  @exclusivity(unchecked) private var emptied: [EntityChanges] = []
  @exclusivity(unchecked) private var emptiedCatalog: Catalog?
  private var rules: [String: RowRules] = [:]
  private var rulesRevision: UInt64 = 0

  /// Drops what depends on the schema. A transaction that changed the schema may have been aborted,
  /// and a later one then uses the same revision number for another schema.
  func forgetSchema() {
    binding = nil
    checkedRevision = nil
    rules = [:]
    rulesRevision = 0
    emptied = []
    emptiedCatalog = nil
  }

  /// Returns empty changes of an entity, if earlier ones were recycled: creating them takes longer
  /// than a small write.
  func emptiedChanges(of entity: EntityLayout, in catalog: Catalog) -> EntityChanges? {
    guard emptiedCatalog === catalog,
      let place = emptied.firstIndex(where: { $0.entity === entity })
    else { return nil }
    return emptied.remove(at: place)
  }

  /// Keeps the changes of a transaction that needs them no longer.
  func recycle(_ changes: some Collection<EntityChanges>, of catalog: Catalog) {
    if emptiedCatalog !== catalog {
      emptied = []
      emptiedCatalog = catalog
    }
    for changes in changes where emptied.count < StoreLimits.idleBuffersMax {
      changes.removeAll()
      emptied.append(changes)
    }
  }

  /// Returns the rules of an entity, compiled once per schema revision.
  func rules(of entity: EntityLayout, revision: UInt64) throws -> RowRules {
    if revision != rulesRevision {
      rules = [:]
      rulesRevision = revision
    }
    if let found = rules[entity.name] { return found }
    let compiled = try RowRules(entity)
    rules[entity.name] = compiled
    return compiled
  }
}

/// A record that was looked up to be copied.
// SAFETY: the view is given out only for as long as its bytes are valid: LMDB moves and reuses
// pages only when it writes, and another transaction forgets the record when it begins.
struct CopiedRecord {
  private let view: RecordView
  private let id: Int64
  private let entity: ObjectIdentifier
  private let writes: Int

  /// - Parameter writes: The number of writes (`TreeWriter.writes`) at which it was looked up.
  init(_ view: RecordView, id: Int64, of entity: EntityLayout, at writes: Int) {
    self.view = view
    self.id = id
    self.entity = ObjectIdentifier(entity)
    self.writes = writes
  }

  /// Returns the view of a record if it is this one, and nothing was written since its lookup.
  @inline(__always)
  func view(of id: Int64, in entity: EntityLayout, at writes: Int) -> RecordView? {
    guard id == self.id, ObjectIdentifier(entity) == self.entity, writes == self.writes else {
      return nil
    }
    return view
  }
}

/// The rules that the values of a row must satisfy.
package struct RowRules {
  package let validator: RowValidator
  /// Positions of attributes whose default is not a valid value, so that a value must be given.
  let unfilled: [Int]
  /// The marks (see `RowChanges`) of the positions at which a value of the attribute's kind may
  /// break a rule. At the others any value, and null, is valid.
  let examined: UInt64
  /// The marks of the positions with a range, a length or a pattern.
  let ruled: UInt64

  init(_ entity: EntityLayout) throws {
    let validator = try RowValidator(entity.description.attributes)
    self.validator = validator
    let defaults = entity.newRow()
    unfilled = defaults.indices.filter { validator.failure(of: defaults[$0], at: $0) != nil }
    func marks(_ isMarked: (AttributeDescription) -> Bool) -> UInt64 {
      entity.description.attributes.enumerated().reduce(0) {
        isMarked($1.element) ? $0 | RowChanges.mark($1.offset) : $0
      }
    }
    ruled = marks { $0.validation != .none }
    let numbers: Set<ValueKind> = [.double, .date, .decimal]
    examined = ruled | marks { !$0.isOptional || numbers.contains($0.type.kind) }
  }
}
