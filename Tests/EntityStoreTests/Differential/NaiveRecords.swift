import EntityModel

/// The evaluation of paths and aggregates for the records of one entity, given by record id.
struct NaiveRecords {
  typealias Operand = NaiveOperand<Int64>

  let data: ModelData
  let entity: ModelEntity

  var predicates: NaivePredicate<Int64> {
    NaivePredicate(leaf: leaf, exists: exists)
  }

  private func leaf(_ expression: FetchExpression) throws -> Operand {
    switch expression {
    case .path(let path): return try self.path(path)
    case .itself: return Operand(kind: .object) { [.int64($0)] }
    case .collection(let path, let function, let rest):
      return try collection(path, function, rest)
    default: throw NaiveError.meaningless("\(expression) about a record")
    }
  }

  private func exists(
    _ path: String, _ part: FetchPredicate
  ) throws -> (Int64) throws -> Bool {
    let walk = try self.walk(path)
    let logic = try NaiveRecords(data: data, entity: walk.entity).predicates.bind(part)
    return { try walk.ends($0).compactMap { $0 }.contains { try logic($0) == true } }
  }

  // MARK: Paths

  /// The result of a path along relationships: the last entity, and its records. `nil` is a to-one
  /// relationship without a destination.
  private struct Walk {
    var entity: ModelEntity
    var isMany = false
    var ends: (Int64) -> [Int64?] = { [$0] }
  }

  private func walk(_ path: String) throws -> Walk {
    try path.split(separator: ".").reduce(Walk(entity: entity)) { try step($0, String($1)) }
  }

  private func step(_ walk: Walk, _ name: String) throws -> Walk {
    guard let relationship = walk.entity.relationship(name),
      let destination = data.entity(relationship.destination)
    else { throw NaiveError.meaningless("no relationship \(name)") }
    let targets = data.targets[walk.entity.name]?[name] ?? [:]
    let before = walk.ends
    if relationship.isToMany {
      return Walk(entity: destination, isMany: true) { id in
        before(id).flatMap { $0.map { targets[$0] ?? [] } ?? [] }
      }
    }
    return Walk(entity: destination, isMany: walk.isMany) { id in
      before(id).map { $0.flatMap { targets[$0]?.first } }
    }
  }

  func path(_ path: String) throws -> Operand {
    let parts = path.split(separator: ".").map(String.init)
    let last = parts.last ?? ""
    let walk = try parts.dropLast().reduce(Walk(entity: entity), step)
    guard let attribute = walk.entity.attribute(last) else {
      let whole = try step(walk, last)
      return Operand(kind: .object, isMany: whole.isMany) {
        whole.ends($0).map { $0.map(Value.int64) ?? .null }
      }
    }
    let records = data.records[walk.entity.name] ?? [:]
    return Operand(kind: .attribute(attribute.type), isMany: walk.isMany) { id in
      walk.ends(id).map { $0.flatMap { records[$0]?.values[last] } ?? .null }
    }
  }

  // MARK: Aggregates

  private func collection(
    _ path: String, _ function: CollectionFunction, _ rest: String?
  ) throws -> Operand {
    guard let rest else { return try count(path) }
    let walk = try self.walk(path)
    let inner = try NaiveRecords(data: data, entity: walk.entity).path(rest)
    guard let kind = inner.kind.valueKind else {
      throw NaiveError.meaningless("\(path).@ of a link")
    }
    let isAverage = function == .average && kind != .decimal
    return Operand(kind: .attribute(isAverage ? .double : AttributeType(kind))) { id in
      let values = try walk.ends(id).compactMap { $0 }.map { try inner.value($0) }
        .filter { !$0.isNull }
      switch function {
      case .count: return [.int64(Int64(values.count))]
      case .sum: return [try NaiveAggregates.sum(values, kind)]
      case .average: return [try NaiveAggregates.average(values, kind)]
      case .minimum: return [NaiveAggregates.least(values)]
      case .maximum: return [NaiveAggregates.greatest(values)]
      }
    }
  }

  private func count(_ path: String) throws -> Operand {
    if let list = try? self.path(path), list.kind.valueKind == .strings {
      return Operand(kind: .attribute(.int64)) { id in
        guard case .strings(let elements) = try list.value(id) else { return [0] }
        return [.int64(Int64(elements.count))]
      }
    }
    let walk = try self.walk(path)
    return Operand(kind: .attribute(.int64)) { id in
      [.int64(Int64(walk.ends(id).compactMap { $0 }.count))]
    }
  }
}
