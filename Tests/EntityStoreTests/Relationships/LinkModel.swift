import EntityModel

/// A model of the links of `RelationshipSchema`: lists in memory, without indexes.
struct LinkModel: Sendable {
  struct Side: Sendable, Hashable {
    let entity: String
    let name: String
    var isToMany = false
    var isOrdered = false
    var isRanked = false
  }

  /// The first side of a pair is the one that the migration names first.
  struct Pair: Sendable {
    let sides: [Side]
    /// The attribute of the first side's records that holds the other's code.
    var key: String?
    var isSymmetric: Bool { sides[0] == sides[1] }
  }

  struct Edge: Sendable, Hashable {
    let pair: Int
    let side: Int

    init(pair: Int, side: Int) {
      self.pair = pair
      self.side = LinkModel.pairs[pair].isSymmetric ? 0 : side
    }
  }

  static let pairs: [Pair] = [
    Pair(sides: [
      .init(entity: "Leaf", name: "owner"), .init(entity: "Node", name: "leaves", isToMany: true),
    ]),
    Pair(sides: [
      .init(entity: "Leaf", name: "list"),
      .init(entity: "Node", name: "items", isToMany: true, isOrdered: true),
    ]),
    Pair(sides: [
      .init(entity: "Leaf", name: "ranked"),
      .init(entity: "Node", name: "ranking", isToMany: true, isRanked: true),
    ]),
    Pair(sides: [.init(entity: "Leaf", name: "partner"), .init(entity: "Node", name: "partner")]),
    Pair(sides: [
      .init(entity: "Leaf", name: "tags", isToMany: true),
      .init(entity: "Node", name: "tagged", isToMany: true),
    ]),
    Pair(sides: [
      .init(entity: "Leaf", name: "playlist", isToMany: true, isOrdered: true),
      .init(entity: "Node", name: "playlists", isToMany: true, isOrdered: true),
    ]),
    Pair(sides: [
      .init(entity: "Leaf", name: "half", isToMany: true),
      .init(entity: "Node", name: "halves", isToMany: true, isOrdered: true),
    ]),
    Pair(
      sides: [
        .init(entity: "Leaf", name: "keyed"),
        .init(entity: "Node", name: "keyedLeaves", isToMany: true, isRanked: true),
      ], key: "nodeCode"),
    Pair(
      sides: [.init(entity: "Leaf", name: "badge"), .init(entity: "Node", name: "bearer")],
      key: "badgeCode"),
    Pair(sides: [
      .init(entity: "Leaf", name: "loose"),
      .init(entity: "Node", name: "_Leaf_loose", isToMany: true),
    ]),
    Pair(sides: [
      .init(entity: "Node", name: "extras", isToMany: true),
      .init(entity: "Leaf", name: "_Node_extras"),
    ]),
    Pair(sides: [
      .init(entity: "Node", name: "album", isToMany: true, isOrdered: true),
      .init(entity: "Leaf", name: "_Node_album"),
    ]),
    Pair(sides: [
      .init(entity: "Node", name: "parent"),
      .init(entity: "Node", name: "children", isToMany: true, isOrdered: true),
    ]),
    Pair(sides: [
      .init(entity: "Node", name: "friends", isToMany: true),
      .init(entity: "Node", name: "friends", isToMany: true),
    ]),
    Pair(sides: [.init(entity: "Node", name: "spouse"), .init(entity: "Node", name: "spouse")]),
    Pair(sides: [
      .init(entity: "Node", name: "follows", isToMany: true),
      .init(entity: "Node", name: "followers", isToMany: true),
    ]),
  ]

  private(set) var records: [String: [Int64]] = ["Node": [], "Leaf": []]
  /// Codes of nodes, and by attribute the codes that leaves hold.
  private var codes: [Int64: String] = [:]
  private var held: [String: [Int64: String]] = ["nodeCode": [:], "badgeCode": [:]]
  private var ranks: [Int64: Int64] = [:]
  private var lists: [Edge: [Int64: [Int64]]] = [:]

  static func side(_ edge: Edge) -> Side { pairs[edge.pair].sides[edge.side] }

  static func opposite(_ edge: Edge) -> Edge {
    pairs[edge.pair].isSymmetric ? edge : Edge(pair: edge.pair, side: 1 - edge.side)
  }

  /// Returns the record ids that the relationship of a record leads to, in its order.
  func linked(_ edge: Edge, _ id: Int64) -> [Int64] {
    let side = Self.side(edge)
    if let key = Self.pairs[edge.pair].key { return linkedByKey(key, edge, id) }
    let list = lists[edge]?[id] ?? []
    if side.isOrdered { return list }
    return side.isRanked ? sortedByRank(list) : list.sorted()
  }

  private func linkedByKey(_ key: String, _ edge: Edge, _ id: Int64) -> [Int64] {
    if edge.side == 0 {
      guard let code = held[key]?[id] else { return [] }
      return codes.filter { $0.value == code }.map(\.key)
    }
    guard let code = codes[id] else { return [] }
    return sortedByRank((held[key] ?? [:]).filter { $0.value == code }.map(\.key))
  }

  private func sortedByRank(_ list: [Int64]) -> [Int64] {
    func place(_ id: Int64) -> (Int, Int64, Int64) {
      (ranks[id] == nil ? 0 : 1, ranks[id] ?? 0, id)
    }
    return list.sorted { place($0) < place($1) }
  }

  // MARK: Records

  mutating func insert(_ entity: String, _ id: Int64) { records[entity]?.append(id) }

  mutating func setCode(_ code: String?, of id: Int64) { codes[id] = code }

  func isTaken(_ code: String) -> Bool { codes.values.contains(code) }

  func code(of id: Int64) -> String? { codes[id] }

  mutating func setRank(_ rank: Int64?, of id: Int64) { ranks[id] = rank }

  /// All rules are `nullify`.
  mutating func delete(_ entity: String, _ id: Int64) {
    for pair in Self.pairs.indices {
      for number in 0...1 {
        let edge = Edge(pair: pair, side: number)
        guard Self.side(edge).entity == entity else { continue }
        for other in linked(edge, id) { unlink(edge, id, other) }
      }
    }
    records[entity]?.removeAll { $0 == id }
    if entity == "Node" { codes[id] = nil }
    if entity == "Leaf" {
      ranks[id] = nil
      for key in held.keys { held[key]?[id] = nil }
    }
  }

  // MARK: Links

  /// - Parameter index: In an ordered list; `nil` is the end.
  mutating func link(_ edge: Edge, _ id: Int64, _ other: Int64, at index: Int? = nil) {
    if linked(edge, id).contains(other) { return }
    let back = Self.opposite(edge)
    if !Self.side(edge).isToMany {
      for former in linked(edge, id) { unlink(edge, id, former) }
    }
    if !Self.side(back).isToMany {
      for former in linked(back, other) { unlink(back, other, former) }
    }
    if let key = Self.pairs[edge.pair].key {
      let (leaf, node) = edge.side == 0 ? (id, other) : (other, id)
      held[key]?[leaf] = codes[node]
      return
    }
    lists[edge, default: [:]][id, default: []].insert(
      other, at: index ?? lists[edge]?[id]?.count ?? 0)
    if back != edge || id != other { lists[back, default: [:]][other, default: []].append(id) }
  }

  mutating func unlink(_ edge: Edge, _ id: Int64, _ other: Int64) {
    if let key = Self.pairs[edge.pair].key {
      held[key]?[edge.side == 0 ? id : other] = nil
      return
    }
    lists[edge]?[id]?.removeAll { $0 == other }
    lists[Self.opposite(edge)]?[other]?.removeAll { $0 == id }
  }

  mutating func unlinkAll(_ edge: Edge, _ id: Int64) {
    for other in linked(edge, id) { unlink(edge, id, other) }
    if edge.side == 0, let key = Self.pairs[edge.pair].key { held[key]?[id] = nil }
  }

  /// The list of an ordered relationship in another order.
  mutating func arrange(_ edge: Edge, _ id: Int64, _ list: [Int64]) { lists[edge]?[id] = list }
}
