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
    /// The access does not give the order.
    var sortsInMemory: Bool
    var sort: [SortPart]
    /// The predicate is never true: nothing need be read.
    var matchesNothing: Bool
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
    let planner = try Planner(request, entity: entity)
    return try planner.choice(of: planner.choose().best)
  }

  /// The same decision in words, which a fetch has no time for.
  static func explain(_ request: FetchRequest, entity: EntityLayout) throws -> FetchPlan {
    let planner = try Planner(request, entity: entity)
    let (best, rejected) = planner.choose()
    _ = try planner.choice(of: best)
    return planner.explanation(of: best, rejected)
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
      SortPart(position: try entity.position(of: $0.path), isDescending: $0.isDescending)
    }
  }

  private func choose() -> (best: Candidate?, rejected: [Rejection]) {
    var best: Candidate?
    var rejected: [Rejection] = []
    for index in entity.indexes {
      switch candidate(index) {
      case .failure(let rejection): rejected.append(rejection)
      case .success(let candidate):
        guard let current = best else {
          best = candidate
          continue
        }
        let isBetter = candidate.isBetter(than: current)
        if isBetter { best = candidate }
        rejected.append(
          Rejection(
            index: (isBetter ? current : candidate).index.number,
            reason: "another index serves more of it"))
      }
    }
    return (best, rejected)
  }

  /// How one index would serve the request.
  private struct Candidate {
    let index: IndexLayout
    var equalCount = 0
    var hasRange = false
    var servesOrder = false
    var isReversed = false
    var range = KeyRange.all
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

  private struct Rejection: Error {
    let index: Int
    let reason: StaticString
  }

  private func candidate(_ index: IndexLayout) -> Result<Candidate, Rejection> {
    func no(_ reason: StaticString) -> Result<Candidate, Rejection> {
      .failure(Rejection(index: index.number, reason: reason))
    }
    if index.isSparse {
      for part in index.parts where isNullable(part) && !constraints.excludesNull(part.position) {
        return no("sparse, and null is not excluded")
      }
    }
    if index.listPart != nil { return no("an index on a list") }
    var candidate = Candidate(index: index)
    bound(&candidate)
    order(&candidate)
    let narrows = candidate.equalCount > 0 || candidate.hasRange || index.isSparse
    if sort.isEmpty {
      if !narrows { return no("does not narrow the fetch") }
      // In order of object id only within equal keys, so anything else must be sorted.
      candidate.servesOrder = candidate.equalCount == index.parts.count
      return .success(candidate)
    }
    if !candidate.servesOrder, !narrows { return no("neither narrows nor sorts as asked") }
    return .success(candidate)
  }

  private func isNullable(_ part: IndexLayout.Part) -> Bool {
    entity.description.attributes[part.position].isOptional
  }

  /// Turns the constraints on the leading keys into a range of key bytes.
  private func bound(_ candidate: inout Candidate) {
    let index = candidate.index
    // A sparse index is itself the proof that its attributes are not null.
    defer {
      if index.isSparse {
        for part in index.parts { coverNotNull(&candidate, part.position) }
      }
    }
    guard constraints.byPosition[index.parts[0].position] != nil else { return }
    var key = KeyWriter()
    for part in index.parts {
      guard let constraint = constraints.byPosition[part.position] else { break }
      if let equal = constraint.equal {
        let wasCut = key.isCut
        key.append(
          equal, descending: part.isDescending, room: index.room(part, written: key.count),
          hashesCuts: index.isUnique)
        candidate.equalCount += 1
        if key.isCut == wasCut { candidate.covered.formUnion(constraint.sources) }
        // What follows a cut component is ordered within equal cuts only.
        if key.isCut { break }
        continue
      }
      if let range = range(of: constraint, part, index, prefix: Array(key.bytes)) {
        candidate.hasRange = true
        candidate.range = range.keys
        if !range.isCut { candidate.covered.formUnion(constraint.sources) }
        return
      }
      break
    }
    candidate.range = key.count == 0 ? .all : KeyRange(prefix: Array(key.bytes))
  }

  private func coverNotNull(_ candidate: inout Candidate, _ position: Int) {
    guard let constraint = constraints.byPosition[position] else { return }
    for number in constraint.sources {
      if case .comparison(let whole) = constraints.conjuncts[number],
        whole.comparison == .notEqual, whole.right == .value(.null)
      {
        candidate.covered.insert(number)
      }
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

  /// Whether the keys after the equal ones are the sort keys, all as asked or all reversed.
  ///
  /// Ties come in order of object id, so an index that goes on after the sort keys does not serve.
  private func order(_ candidate: inout Candidate) {
    let parts = candidate.index.parts
    var next = candidate.equalCount
    var isReversed: Bool?
    guard !sort.isEmpty else { return }
    for key in sort {
      if parts[..<candidate.equalCount].contains(where: { $0.position == key.position }) {
        continue
      }
      guard next < parts.count, parts[next].position == key.position else { return }
      let differs = parts[next].isDescending != key.isDescending
      if let isReversed, isReversed != differs { return }
      isReversed = differs
      next += 1
    }
    guard next == parts.count else { return }
    candidate.servesOrder = true
    candidate.isReversed = isReversed ?? false
  }

  /// What the range of keys leaves to be checked on the record.
  private func remaining(_ best: Candidate?) -> FetchPredicate? {
    var parts = constraints.conjuncts
    if let best {
      parts = parts.indices.filter { !best.covered.contains($0) }.map { parts[$0] }
    }
    return parts.count <= 1 ? parts.first : .and(parts)
  }

  private func choice(of best: Candidate?) throws -> Choice {
    let filter = remaining(best)
    let servesOrder = best?.servesOrder ?? sort.isEmpty
    let matchesNothing = filter?.conjuncts.contains(.always(false)) ?? false
    if request.requiresIndex, best == nil || !servesOrder, !matchesNothing {
      throw StoreError(
        .requiresIndex, "no index serves the fetch",
        [
          ("entity", entity.name), ("predicate", request.predicate?.description ?? "none"),
          ("sort", request.sortBy.map(\.description).joined(separator: ", ")),
        ], advice: "add an index with a migration")
    }
    return Choice(
      access: best.map { .index($0.index, $0.range, isReversed: $0.isReversed) } ?? .scan,
      filter: try filter.map { try PredicateProgram($0, entity: entity) },
      sortsInMemory: !servesOrder, sort: servesOrder ? [] : sort, matchesNothing: matchesNothing)
  }

  // MARK: Words

  private func explanation(of best: Candidate?, _ rejected: [Rejection]) -> FetchPlan {
    let access: FetchPlan.Access =
      best.map { best in
        .index(
          name: best.index.description.name,
          keys: entity.description.keyText(of: best.index.description), range: rangeText(best),
          isReversed: best.isReversed)
      } ?? .scan
    return FetchPlan(
      entity: entity.name, access: access, filter: remaining(best)?.description,
      sortsInMemory: !(best?.servesOrder ?? sort.isEmpty),
      sortBy: request.sortBy.map(\.description).joined(separator: ", "),
      limit: request.fetchLimit, offset: request.fetchOffset,
      rejected: rejected.map { rejection in
        .init(
          index: entity.indexes[rejection.index].description.name, reason: "\(rejection.reason)")
      })
  }

  private func rangeText(_ candidate: Candidate) -> String {
    let count = candidate.equalCount + (candidate.hasRange ? 1 : 0)
    let texts = candidate.index.parts.prefix(count).flatMap { part -> [String] in
      guard let constraint = constraints.byPosition[part.position] else { return [] }
      return constraint.texts(entity.description.attributes[part.position].name)
    }
    return texts.isEmpty ? "all entries" : texts.joined(separator: ", ")
  }
}

extension Constraints.Constraint {
  fileprivate func texts(_ name: String) -> [String] {
    if let equal { return ["\(name) == \(equal.text)"] }
    var texts: [String] = []
    if let lower { texts.append("\(name) \(lower.isInclusive ? ">=" : ">") \(lower.value.text)") }
    if let upper { texts.append("\(name) \(upper.isInclusive ? "<=" : "<") \(upper.value.text)") }
    return texts.isEmpty ? ["\(name) != null"] : texts
  }
}
