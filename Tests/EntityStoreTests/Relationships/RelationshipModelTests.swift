import EntityModel
import TestSupport
import Testing

@testable import EntityStore

@Suite struct RelationshipModelTests {
  @Test("Links of every storage are those of a model after every batch", arguments: [1, 2, 3])
  func storeAndModelAgree(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed, migrations: [RelationshipSchema.source]) { context in
      let store = context.store
      var random = context.random
      var model = LinkModel()
      for batch in 0..<(isThorough ? 400 : 60) {
        let start = (model, random)
        (model, random) = try await store.write { transaction in
          var run = LinkRun(transaction: transaction, model: start.0, random: start.1)
          for _ in 0..<run.random.number(1...12) { try run.step() }
          try run.compareSome()
          return (run.model, run.random)
        }
        try store.read { try compare($0, model, "batch \(batch)") }
        try requireClean(store)
      }
    }
  }
}

/// Holds every relationship of every record against the model.
private func compare(_ transaction: ReadTransaction, _ model: LinkModel, _ place: String) throws {
  for (pair, sides) in LinkModel.pairs.enumerated() {
    for number in sides.sides.indices {
      let edge = LinkModel.Edge(pair: pair, side: number)
      let side = LinkModel.side(edge)
      for id in model.records[side.entity] ?? [] {
        let found = try transaction.related(ObjectID(entity: side.entity, number: id), side.name)
        try #require(
          found.map(\.number) == model.linked(edge, id),
          "\(side.entity)/\(id).\(side.name), \(place)")
      }
    }
  }
}

/// Random changes, of store and model alike.
private struct LinkRun {
  let transaction: WriteTransaction
  var model: LinkModel
  var random: SeededRandom

  mutating func step() throws {
    switch random.number(0...19) {
    case 0, 1: try insertNode()
    case 2, 3: try insertLeaf()
    case 4: try delete()
    case 5: try setRank()
    case 6: try setCode()
    case 7: try setReference()
    case 8: try failToLink()
    default: try change()
    }
  }

  mutating func compareSome() throws { try compare(transaction, model, "inside the write") }

  private mutating func insertNode() throws {
    if model.records["Node", default: []].count > 12 { return }
    let code = newCode()
    let id = try transaction.insert("Node", ["code": code.map { .string($0) } ?? .null])
    model.insert("Node", id.number)
    model.setCode(code, of: id.number)
  }

  /// Long codes share their beginnings, so that keys are cut.
  private mutating func newCode() -> String? {
    if random.oneIn(4) { return nil }
    let end = String(random.number(0...20))
    let code = random.oneIn(2) ? end : String(repeating: "x", count: 600) + end
    return model.isTaken(code) ? nil : code
  }

  private mutating func insertLeaf() throws {
    if model.records["Leaf", default: []].count > 16 { return }
    var values: [String: Value] = [:]
    let rank = random.oneIn(3) ? nil : Int64(random.number(0...3))
    if let rank { values["rank"] = .int64(rank) }
    let owner = anyID("Node")
    if let owner, random.oneIn(2) {
      values["owner"] = .int64(owner)
      values["list"] = .int64(owner)
    }
    let id = try transaction.insert("Leaf", values).number
    model.insert("Leaf", id)
    model.setRank(rank, of: id)
    for (name, pair) in [("owner", 0), ("list", 1)] where values[name] != nil {
      if let owner { model.link(.init(pair: pair, side: 0), id, owner) }
    }
  }

  private mutating func delete() throws {
    let entity = random.pick(["Node", "Leaf"])
    guard let id = anyID(entity) else { return }
    #expect(try transaction.delete(ObjectID(entity: entity, number: id)))
    model.delete(entity, id)
  }

  private mutating func setRank() throws {
    guard let id = anyID("Leaf") else { return }
    let rank = random.oneIn(4) ? nil : Int64(random.number(0...3))
    try transaction.update(ObjectID(entity: "Leaf", number: id)) {
      try $0.set("rank", to: rank.map { .int64($0) } ?? .null)
    }
    model.setRank(rank, of: id)
  }

  private mutating func setCode() throws {
    guard let id = anyID("Node") else { return }
    let code = newCode()
    try transaction.update(ObjectID(entity: "Node", number: id)) {
      try $0.set("code", to: code.map { .string($0) } ?? .null)
    }
    model.setCode(code, of: id)
  }

  /// A reference is an attribute, too.
  private mutating func setReference() throws {
    let (entity, name, pair) = random.pick([
      ("Leaf", "owner", 0), ("Leaf", "list", 1), ("Leaf", "ranked", 2), ("Node", "parent", 12),
    ])
    guard let id = anyID(entity) else { return }
    let other = random.oneIn(3) ? nil : anyID("Node")
    try transaction.update(ObjectID(entity: entity, number: id)) {
      try $0.set(name, to: other.map { .int64($0) } ?? .null)
    }
    let edge = LinkModel.Edge(pair: pair, side: 0)
    if let other { model.link(edge, id, other) } else { model.unlinkAll(edge, id) }
  }

  /// Attempts invalid links. A failed call changes nothing.
  private mutating func failToLink() throws {
    let edge = anyEdge()
    let side = LinkModel.side(edge)
    guard let id = anyID(side.entity) else { return }
    let object = ObjectID(entity: side.entity, number: id)
    let other = LinkModel.side(LinkModel.opposite(edge)).entity
    let ghosts = [ObjectID(entity: other, number: 1_000_000)]
    let all = model.records[other, default: []].map { ObjectID(entity: other, number: $0) } + ghosts
    let code = code {
      if side.isToMany {
        try transaction.setRelated(object, side.name, to: all)
      } else {
        try transaction.setRelated(object, side.name, to: ghosts[0])
      }
    }
    #expect(code == .missingRecord)
  }

  private mutating func change() throws {
    let edge = anyEdge()
    let side = LinkModel.side(edge)
    guard let id = anyID(side.entity) else { return }
    let object = ObjectID(entity: side.entity, number: id)
    let others = someOthers(edge, of: id)
    guard side.isToMany else {
      try transaction.setRelated(object, side.name, to: others.first.map { identity($0, edge) })
      if let other = others.first {
        model.link(edge, id, other)
      } else {
        model.unlinkAll(edge, id)
      }
      return
    }
    switch random.number(0...3) {
    case 0: try set(edge, object, others)
    case 1: try add(edge, object, others)
    case 2:
      try transaction.removeRelated(others.map { identity($0, edge) }, from: object, side.name)
      for other in others where model.linked(edge, id).contains(other) {
        model.unlink(edge, id, other)
      }
    default: try move(edge, object)
    }
  }

  private mutating func set(_ edge: LinkModel.Edge, _ id: ObjectID, _ others: [Int64]) throws {
    let side = LinkModel.side(edge)
    try transaction.setRelated(id, side.name, to: others.map { identity($0, edge) })
    for other in model.linked(edge, id.number) where !others.contains(other) {
      model.unlink(edge, id.number, other)
    }
    for other in others { model.link(edge, id.number, other) }
    if side.isOrdered { model.arrange(edge, id.number, others) }
  }

  private mutating func add(_ edge: LinkModel.Edge, _ id: ObjectID, _ others: [Int64]) throws {
    let side = LinkModel.side(edge)
    let count = model.linked(edge, id.number).count
    let index = side.isOrdered && random.oneIn(2) ? random.number(0...count) : nil
    try transaction.addRelated(others.map { identity($0, edge) }, to: id, side.name, at: index)
    var next = index
    for other in others where !model.linked(edge, id.number).contains(other) {
      model.link(edge, id.number, other, at: next)
      next = next.map { $0 + 1 }
    }
  }

  private mutating func move(_ edge: LinkModel.Edge, _ id: ObjectID) throws {
    let side = LinkModel.side(edge)
    var list = model.linked(edge, id.number)
    guard side.isOrdered, !list.isEmpty else { return }
    let moved = Array(list.shuffled(using: &random).prefix(random.number(1...2)))
    list.removeAll { moved.contains($0) }
    let index = random.number(0...list.count)
    try transaction.moveRelated(moved.map { identity($0, edge) }, of: id, side.name, to: index)
    list.insert(contentsOf: moved, at: index)
    model.arrange(edge, id.number, list)
  }

  // MARK: Choices

  private mutating func anyEdge() -> LinkModel.Edge {
    .init(pair: random.number(0...LinkModel.pairs.count - 1), side: random.number(0...1))
  }

  private mutating func anyID(_ entity: String) -> Int64? {
    let ids = model.records[entity, default: []]
    return ids.isEmpty ? nil : random.pick(ids)
  }

  /// Records that may be linked: one with a key must have a code.
  private mutating func someOthers(_ edge: LinkModel.Edge, of id: Int64) -> [Int64] {
    let isByKey = LinkModel.pairs[edge.pair].key != nil
    if isByKey, edge.side == 1, model.code(of: id) == nil { return [] }
    let all = model.records[LinkModel.side(LinkModel.opposite(edge)).entity, default: []]
    let linkable = isByKey && edge.side == 0 ? all.filter { model.code(of: $0) != nil } : all
    return Array(linkable.shuffled(using: &random).prefix(random.number(0...4)))
  }

  private func identity(_ id: Int64, _ edge: LinkModel.Edge) -> ObjectID {
    ObjectID(entity: LinkModel.side(LinkModel.opposite(edge)).entity, number: id)
  }
}
