import EntityModel
import Foundation

/// Puts the changes of one transaction together: each record once.
struct HistoryCollection {
  struct Object: Hashable {
    let entityID: Int
    let id: Int64
  }

  struct Net {
    var kind: HistoryKind
    /// As in `HistoryTree.Change`.
    var properties: Set<Int> = []
    var isWhole = false
    /// By attribute's id: the values before the transaction.
    var values: [Int: Value] = [:]
  }

  let header: HistoryTree.Header
  let wanted: Set<Int>?
  private(set) var order: [Object] = []
  private(set) var changes: [Object: Net] = [:]
  private(set) var unrecorded: Set<Int> = []

  init(header: HistoryTree.Header, wanted: Set<Int>?) {
    self.header = header
    self.wanted = wanted
  }

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

  /// Each record once, in the order in which they were first changed.
  var objects: [(object: Object, net: Net)] {
    // One that was made, deleted and made again is in the order twice.
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
      do throws(RecordDamage) {
        values[attribute] = try RecordField.value(bytes, kind)
      } catch {
        // A deletion takes the values over as they lie in the record. One that was damaged there
        // must not keep everybody from all that came after it: it is left out, and the check tells
        // of it.
        continue
      }
    }
  }

  /// What two changes of a record come to; `nil` for nothing.
  fileprivate func followed(by next: Self) -> Self? {
    var net = self
    // The first value that a change replaced is the one before the transaction; of what was changed
    // first without its value being kept, a later one says nothing.
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
      // Put back by a change that was taken back: some of it may differ.
      net.kind = .update
      net.isWhole = true
      return net
    case (_, _):
      net.properties.formUnion(next.properties)
      return net
    }
  }
}

/// Names of what the history knows by number.
struct EntityNames {
  private var entities: [Int: EntityDescription] = [:]

  init(_ schema: Schema) {
    for entity in schema.entities { entities[entity.id] = entity }
  }

  func name(of entityID: Int) -> String? { entities[entityID]?.name }

  /// - Returns: `nil` if the entity is no more.
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
