import EntityModel

/// Chooses how a fetch is answered: pure, from the request and the catalog alone.
///
/// An index serves a leading run of equal attributes, then a range of the next one, and gives the
/// order that its remaining keys have. The planner takes the index that spares the sort if one
/// does, and among those the one that narrows most; a scan is the last resort.
struct Planner {
  /// A plan that can be run.
  struct Choice {
    var access: Access
    var filter: PredicateProgram?
    /// Empty if the access gives the order.
    var sort: [SortPart]
    /// The predicate is never true: nothing need be read.
    var matchesNothing: Bool
    var explanation: FetchPlan
  }

  enum Access {
    case scan
    case index(IndexLayout, KeyRange, isReversed: Bool)
  }

  struct SortPart {
    let position: Int
    let isDescending: Bool
  }

  private let entity: EntityLayout
  private let request: FetchRequest
  private let constraints: Constraints
  private let sort: [SortPart]

  static func plan(_ request: FetchRequest, entity: EntityLayout) throws -> Choice {
    try Planner(request, entity: entity).choose()
  }

  private init(_ request: FetchRequest, entity: EntityLayout) throws {
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw StoreError(
        .invalidRequest, "a limit or an offset is negative",
        [("limit", String(request.fetchLimit)), ("offset", String(request.fetchOffset))])
    }
    self.entity = entity
    self.request = request
    constraints = try Constraints(request.predicate, entity: entity)
    sort = try request.sortBy.map {
      SortPart(position: try entity.position(of: $0.attribute), isDescending: $0.isDescending)
    }
  }

  private func choose() throws -> Choice {
    var best: Candidate?
    var rejected: [FetchPlan.Rejection] = []
    for index in entity.indexes {
      switch candidate(index) {
      case .failure(let why): rejected.append(.init(index: index.description.name, reason: why.text))
      case .success(let candidate):
        guard let current = best else {
          best = candidate
          continue
        }
        let loser = candidate.isBetter(than: current) ? current : candidate
        if candidate.isBetter(than: current) { best = candidate }
        rejected.append(
          .init(index: loser.index.description.name, reason: "another index serves more of it"))
      }
    }
    return try best.map { try choice(of: $0, rejected) } ?? scan(rejected)
  }

  /// How one index would serve the request.
  private struct Candidate {
    let index: IndexLayout
    var equalCount = 0
    var hasRange = false
    var servesOrder = false
    var isReversed = false
    var range = KeyRange.all
    var rangeText = ""
    /// The conjuncts that the range of keys makes sure of.
    var covered: Set<Int> = []

    /// Sparing the sort counts most when there is one, then narrowness.
    func isBetter(than other: Candidate) -> Bool {
      if servesOrder != other.servesOrder { return servesOrder }
      if equalCount != other.equalCount { return equalCount > other.equalCount }
      if hasRange != other.hasRange { return hasRange }
      if index.isSparse != other.index.isSparse { return index.isSparse }
      return index.parts.count < other.index.parts.count
    }
  }

  private struct Reason: Error {
    let text: String
  }

  private func candidate(_ index: IndexLayout) -> Result<Candidate, Reason> {
    if index.isSparse {
      for part in index.parts where isNullable(part) && !constraints.excludesNull(part.position) {
        return .failure(Reason(text: "sparse, and null is not excluded"))
      }
    }
    if index.listPart != nil { return .failure(Reason(text: "an index on a list")) }
    var candidate = Candidate(index: index)
    bound(&candidate)
    order(&candidate)
    let narrows = candidate.equalCount > 0 || candidate.hasRange || index.isSparse
    if sort.isEmpty {
      if !narrows { return .failure(Reason(text: "does not narrow the fetch")) }
      // In order of object id only within equal keys, so anything else must be sorted.
      candidate.servesOrder = candidate.equalCount == index.parts.count
      return .success(candidate)
    }
    if !candidate.servesOrder, !narrows {
      return .failure(Reason(text: "neither narrows nor sorts as asked"))
    }
    return .success(candidate)
  }

  private func isNullable(_ part: IndexLayout.Part) -> Bool {
    entity.description.attributes[part.position].isOptional
  }

  /// Turns the constraints on the leading keys into a range of key bytes.
  private func bound(_ candidate: inout Candidate) {
    let index = candidate.index
    var key = KeyWriter()
    var texts: [String] = []
    for part in index.parts {
      guard let constraint = constraints.byPosition[part.position] else { break }
      let name = entity.description.attributes[part.position].name
      if let equal = constraint.equal {
        let wasCut = key.isCut
        key.append(
          equal, descending: part.isDescending, room: index.room(part, written: key.count),
          hashesCuts: index.isUnique)
        candidate.equalCount += 1
        texts.append("\(name) == \(equal.text)")
        if key.isCut == wasCut { candidate.covered.formUnion(constraint.sources) }
        // What follows a cut component is ordered within equal cuts only.
        if key.isCut { break }
        continue
      }
      if let range = range(of: constraint, part, index, prefix: Array(key.bytes)) {
        candidate.hasRange = true
        candidate.range = range.keys
        if !range.isCut { candidate.covered.formUnion(constraint.sources) }
        texts.append(text(of: constraint, name))
        candidate.rangeText = texts.joined(separator: ", ")
        return
      }
      break
    }
    candidate.range = key.count == 0 ? .all : KeyRange(prefix: Array(key.bytes))
    candidate.rangeText = texts.isEmpty ? "all entries" : texts.joined(separator: ", ")
    // A sparse index is itself the proof that its attributes are not null.
    if index.isSparse {
      for part in index.parts { coverNotNull(&candidate, part.position) }
    }
  }

  private func coverNotNull(_ candidate: inout Candidate, _ position: Int) {
    guard let constraint = constraints.byPosition[position] else { return }
    for number in constraint.sources {
      if case .not(.isNull) = constraints.conjuncts[number] { candidate.covered.insert(number) }
    }
  }

  private func range(
    of constraint: Constraints.Constraint, _ part: IndexLayout.Part, _ index: IndexLayout,
    prefix: [UInt8]
  ) -> (keys: KeyRange, isCut: Bool)? {
    guard constraint.lower != nil || constraint.upper != nil || constraint.isNotNull else {
      return nil
    }
    let tag = part.isDescending ? ~KeyWriter.present : KeyWriter.present
    // All values that are not null, then narrowed from both ends.
    var keys = KeyRange(prefix: prefix + [tag])
    var isCut = false
    // A bound is cut where the entries are, but has no hash: it stands for all of the cut ones.
    let room =
      index.room(part, written: prefix.count) - (index.isUnique ? KeyWriter.hashBytes : 0)
    for (bound, isLower) in [(constraint.lower, true), (constraint.upper, false)] {
      guard let bound else { continue }
      var writer = KeyWriter()
      writer.append(
        bound.value, descending: part.isDescending, room: room, hashesCuts: false)
      isCut = isCut || writer.isCut
      let bytes = prefix + Array(writer.bytes)
      // Where values are cut, their whole run is read and the filter decides.
      let isInclusive = bound.isInclusive || writer.isCut
      if isLower != part.isDescending {
        let lower = isInclusive ? bytes : KeyRange.successor(of: bytes)
        keys.lower = lower ?? keys.lower
      } else {
        keys.upper = isInclusive ? KeyRange.successor(of: bytes) : bytes
      }
    }
    return (keys, isCut)
  }

  private func text(of constraint: Constraints.Constraint, _ name: String) -> String {
    var texts: [String] = []
    if let lower = constraint.lower {
      texts.append("\(name) \(lower.isInclusive ? ">=" : ">") \(lower.value.text)")
    }
    if let upper = constraint.upper {
      texts.append("\(name) \(upper.isInclusive ? "<=" : "<") \(upper.value.text)")
    }
    return texts.isEmpty ? "\(name) != null" : texts.joined(separator: ", ")
  }

  /// Whether the keys after the equal ones are the sort keys, all as asked or all reversed.
  ///
  /// Ties come in order of object id, so an index that goes on after the sort keys does not serve.
  private func order(_ candidate: inout Candidate) {
    let parts = candidate.index.parts
    let equalPositions = Set(parts.prefix(candidate.equalCount).map(\.position))
    let wanted = sort.filter { !equalPositions.contains($0.position) }
    guard !sort.isEmpty else { return }
    let rest = parts.dropFirst(candidate.equalCount)
    guard wanted.count == rest.count else { return }
    guard zip(wanted, rest).allSatisfy({ $0.position == $1.position }) else { return }
    let same = zip(wanted, rest).map { $0.isDescending == $1.isDescending }
    guard Set(same).count <= 1 else { return }
    candidate.servesOrder = true
    candidate.isReversed = same.first == false
  }

  private func choice(
    of candidate: Candidate, _ rejected: [FetchPlan.Rejection]
  ) throws -> Choice {
    let remaining = constraints.conjuncts.indices.filter { !candidate.covered.contains($0) }
    let access = FetchPlan.Access.index(
      name: candidate.index.description.name,
      keys: entity.description.keyText(of: candidate.index.description),
      range: candidate.rangeText, isReversed: candidate.isReversed)
    return try make(
      .index(candidate.index, candidate.range, isReversed: candidate.isReversed), access,
      filter: remaining.map { constraints.conjuncts[$0] }, servesOrder: candidate.servesOrder,
      rejected)
  }

  private func scan(_ rejected: [FetchPlan.Rejection]) throws -> Choice {
    try make(
      .scan, .scan, filter: constraints.conjuncts, servesOrder: sort.isEmpty, rejected)
  }

  private func make(
    _ access: Access, _ text: FetchPlan.Access, filter: [FetchPredicate], servesOrder: Bool,
    _ rejected: [FetchPlan.Rejection]
  ) throws -> Choice {
    let predicate: FetchPredicate? =
      filter.isEmpty ? nil : (filter.count == 1 ? filter[0] : .and(filter))
    let explanation = FetchPlan(
      entity: entity.name, access: text, filter: predicate?.description,
      sortsInMemory: !servesOrder, sortBy: request.sortBy.map(\.description).joined(separator: ", "),
      limit: request.fetchLimit, offset: request.fetchOffset, rejected: rejected)
    if request.requiresIndex, text == .scan || !servesOrder {
      throw StoreError(
        .requiresIndex, "no index serves the fetch",
        [("entity", entity.name), ("predicate", request.predicate?.description ?? "none"),
          ("sort", explanation.sortBy)], advice: "add an index with a migration")
    }
    return Choice(
      access: access, filter: try predicate.map { try PredicateProgram($0, entity: entity) },
      sort: servesOrder ? [] : sort, matchesNothing: filter.contains(.always(false)),
      explanation: explanation)
  }
}
