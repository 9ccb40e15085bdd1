import EntityModel
import Foundation

/// Combines the changes of one transaction: each record once.
struct HistoryCollection {
  struct Object: Hashable {
    let entityID: Int
    let id: Int64
  }

  struct Net {
    var kind: HistoryKind
    /// The changed properties, encoded as in `HistoryTree.Change`.
    var properties: Set<Int> = []
    var isWhole = false
    /// The values before the transaction, by attribute id.
    var values: [Int: Value] = [:]
  }

  let header: HistoryTree.Header
  let wanted: Set<Int>?
  private(set) var order: [Object] = []
  private(set) var changes: [Object: Net] = [:]
  private(set) var unrecorded: Set<Int> = []

  var isEmpty: Bool { changes.isEmpty && unrecorded.isEmpty }

  mutating func add(_ change: HistoryTree.Change) {
    if let wanted, !wanted.contains(change.entityID) { return }
    if change.kind == .unrecorded {
      unrecorded.insert(change.entityID)
      return
    }
    let object = Object(entityID: change.entityID, id: change.id)
    let net = Net(change)
    guard let before = changes[object] else {
      order.append(object)
      changes[object] = net
      return
    }
    changes[object] = before.followed(by: net)
  }

  /// The changed records, each once, in the order in which they were first changed.
  var objects: [(object: Object, net: Net)] {
    // A record that was inserted, deleted and inserted again is in the order twice.
    var rest = changes
    return order.compactMap { object in rest.removeValue(forKey: object).map { (object, $0) } }
  }

  func transaction(token: HistoryToken, _ names: EntityNames) -> HistoryTransaction {
    HistoryTransaction(
      token: token, author: header.author,
      date: Date(timeIntervalSinceReferenceDate: header.time),
      changes: objects.compactMap { names.change($0.object, $0.net) },
      unrecordedEntities: unrecorded.compactMap { names.name(of: $0) }.sorted())
  }
}

extension HistoryCollection.Net {
  fileprivate init(_ change: HistoryTree.Change) {
    kind = change.kind
    properties = Set(change.properties)
    for (attribute, kind, bytes) in change.values {
      // A deletion copies the bytes of the values from the record. A value that was damaged there
      // must not keep consumers from reading the later changes: it is left out, and the check
      // reports it.
      values[attribute] = try? RecordField.value(bytes, kind)
    }
  }

  /// Returns the combination of two changes of a record; `nil` if they cancel each other.
  fileprivate func followed(by next: Self) -> Self? {
    var net = self
    // The value before the transaction is the first one that a change replaced. If the first change
    // did not store the value, that of a later change is not used.
    let earlier = next.values.filter { !properties.contains($0.key * 2) }
    net.values.merge(earlier) { first, _ in first }
    switch (kind, next.kind) {
    case (.insert, .delete): return nil
    case (.insert, _):
      net.values = [:]
      return net
    case (_, .delete):
      net.kind = .delete
      net.properties = []
      net.isWhole = false
      return net
    case (.delete, _):
      // Restored by a change that was undone: some values may differ.
      net.kind = .update
      net.isWhole = true
      return net
    case (_, _):
      net.properties.formUnion(next.properties)
      return net
    }
  }
}

/// The names for the ids that the history stores.
struct EntityNames {
  private var entities: [Int: EntityDescription] = [:]

  init(_ schema: Schema) {
    for entity in schema.entities { entities[entity.id] = entity }
  }

  func name(of entityID: Int) -> String? { entities[entityID]?.name }

  /// Returns the change with names.
  ///
  /// - Returns: `nil` if the entity no longer exists.
  func change(_ object: HistoryCollection.Object, _ net: HistoryCollection.Net) -> HistoryChange? {
    guard let entity = entities[object.entityID] else { return nil }
    let kind: HistoryChange.Kind =
      switch net.kind {
      case .insert: .insert
      case .delete: .delete
      case .update, .unrecorded: .update
      }
    var names: [String] = []
    for attribute in entity.attributes where !attribute.isHidden {
      if net.isWhole || net.properties.contains(attribute.id * 2) { names.append(attribute.name) }
    }
    for relationship in entity.relationships where !relationship.isHidden {
      if net.properties.contains(relationship.id * 2 + 1) { names.append(relationship.name) }
    }
    var values: [String: Value] = [:]
    for attribute in entity.attributes where !attribute.isHidden {
      if let value = net.values[attribute.id] { values[attribute.name] = value }
    }
    return HistoryChange(
      objectID: ObjectID(entity: entity.name, number: object.id), kind: kind,
      changedProperties: names, values: values)
  }
}
