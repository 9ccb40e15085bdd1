import EntityModel

/// The way in which one index would serve a request.
struct IndexCandidate {
  let index: IndexLayout
  var access: IndexAccess
  /// The number of leading key parts that the predicate narrows.
  var usedParts: Int
  /// The conjuncts that are true of all entries in the ranges.
  var covered: Set<Int>
  /// The conjuncts that the ranges come from.
  var used: Set<Int>
  var servesOrder: Bool
  var isIndexOnly: Bool
  var isSkipScan = false
  /// The values that the predicate allows for the narrowing parts, by part.
  var sets: [IntervalSet]

  /// Returns true if nothing remains to be checked or sorted.
  func isPerfect(for request: BoundRequest) -> Bool {
    servesOrder && covered.count == request.conjuncts.count
  }

  /// The reason why an index cannot serve.
  struct Rejection: Error {
    let reason: StaticString
  }

  /// Returns the candidate for an index.
  ///
  /// - Parameter leading: The known values of the first part, if the predicate does not narrow it.
  /// - Returns: `nil` if the predicate is never true.
  static func make(
    _ index: IndexLayout, for request: BoundRequest, _ known: ConjunctSets,
    leading: IntervalSet? = nil
  ) throws(Rejection) -> IndexCandidate? {
    guard index.isUsable else {
      throw Rejection(reason: "made with another version of the collation")
    }
    let conjuncts = request.conjuncts.map(\.program)
    if leading == nil { try requireRelation(of: index, to: request, conjuncts) }
    var sets: [IntervalSet] = []
    var listConjunct: Int?
    for (number, part) in index.parts.enumerated() {
      if number == index.listPart {
        let found = listSet(conjuncts, part)
        listConjunct = found?.conjunct
        sets.append(found?.set ?? .all)
      } else {
        sets.append(known.whereTrue(part))
      }
    }
    if sets.contains(where: \.isEmpty) { return nil }
    for (number, part) in index.parts.enumerated()
    where index.isSparse && number != index.listPart && request.isNullable(part.position) {
      if !sets[number].excludesNull { throw Rejection(reason: sparseReason) }
    }
    // Applied only here: that the index has no null in a part does not mean that the predicate
    // excludes null.
    if let leading { sets[0] = sets[0].intersection(leading) }
    return try candidate(index, request, known, sets, listConjunct)
  }

  private static let sparseReason: StaticString = "sparse, and null is not excluded"

  private static func unhelpfulReason(_ request: BoundRequest) -> StaticString {
    request.sort.isEmpty ? "does not narrow the fetch" : "neither narrows nor sorts as asked"
  }

  /// Rejects an index on attributes that neither the predicate nor the order is about, as the full
  /// examination would. Most indexes of an entity are rejected here.
  private static func requireRelation(
    of index: IndexLayout, to request: BoundRequest, _ conjuncts: [PredicateProgram]
  ) throws(Rejection) {
    for part in index.parts {
      if conjuncts.contains(where: { KeySets.depend($0, on: part.position) }) { return }
    }
    // Other rules apply to a list, and an index alone may answer a request for some attributes.
    guard index.listPart == nil, request.attributes == nil else { return }
    if index.isSparse {
      guard index.parts.contains(where: { request.isNullable($0.position) }) else { return }
      throw Rejection(reason: sparseReason)
    }
    if request.isOrdered, request.sort.first?.position == index.parts[0].position { return }
    throw Rejection(reason: unhelpfulReason(request))
  }

  private static func candidate(
    _ index: IndexLayout, _ request: BoundRequest, _ known: ConjunctSets,
    _ sets: [IntervalSet], _ listConjunct: Int?
  ) throws(Rejection) -> IndexCandidate {
    let ranges = IndexRanges(of: index, sets)
    if let list = index.listPart, list >= ranges.usedParts {
      // Records without elements have no entries.
      throw Rejection(reason: "an index on a list, of which no element is asked for")
    }
    var candidate = IndexCandidate(
      index: index,
      access: IndexAccess(
        index: index, ranges: ranges.ranges, prefixCounts: ranges.prefixCounts,
        mergedFrom: ranges.pointParts),
      usedParts: ranges.usedParts, covered: [], used: [], servesOrder: false, isIndexOnly: false,
      sets: Array(sets.prefix(ranges.usedParts)))
    candidate.cover(ranges, request.conjuncts.indices, known, listConjunct)
    candidate.order(ranges, request)
    if let end = candidate.splitOrder(sets) {
      return try self.candidate(
        index, request, known, Array(sets.prefix(end)), listConjunct)
    }
    if let list = index.listPart {
      // A single element is sought, and each record has at most one entry for it.
      let isOneEntry = list < ranges.fixedParts
      candidate.access.mayRepeat = !isOneEntry
      if !isOneEntry { candidate.servesOrder = false }
    }
    candidate.isIndexOnly = candidate.keysHoldAll(request)
    let narrows = ranges.usedParts > 0 || index.isSparse
    let sortsUsefully = candidate.servesOrder && request.isOrdered && !request.sort.isEmpty
    // The number of all records is known without any index.
    let sparesRecords =
      candidate.isIndexOnly && !(request.conjuncts.isEmpty && request.attributes?.isEmpty != false)
    guard narrows || sortsUsefully || sparesRecords else {
      throw Rejection(reason: unhelpfulReason(request))
    }
    return candidate
  }

  /// Returns the allowed values of a list's elements. They are taken from one conjunct at a time:
  /// another conjunct may be true of another element.
  private static func listSet(
    _ conjuncts: [PredicateProgram], _ part: IndexLayout.Part
  ) -> (conjunct: Int, set: IntervalSet)? {
    for (number, conjunct) in conjuncts.enumerated() {
      if let sets = KeySets.elements(conjunct, position: part.position) {
        return (number, sets.whereTrue)
      }
    }
    return nil
  }

  // MARK: Conjuncts that the ranges guarantee

  private mutating func cover(
    _ ranges: IndexRanges, _ conjuncts: Range<Int>, _ known: ConjunctSets, _ listConjunct: Int?
  ) {
    for number in conjuncts {
      for (place, part) in index.parts.enumerated() {
        let isUsed = place < ranges.usedParts
        if place == index.listPart {
          guard number == listConjunct, isUsed else { continue }
          used.insert(number)
          if place < ranges.exactParts { covered.insert(number) }
          continue
        }
        let sets = known.sets(of: number, part)
        if isUsed, !sets.whereTrue.isAll { used.insert(number) }
        guard sets.isExact else { continue }
        // The entries of a sparse index prove that its attributes are not null.
        let isProven = index.isSparse && sets.whereTrue == .notNull
        if isProven || place < ranges.exactParts { covered.insert(number) }
      }
    }
  }

  // MARK: The order

  private mutating func order(_ ranges: IndexRanges, _ request: BoundRequest) {
    guard request.isOrdered else {
      servesOrder = true
      access.order = .none
      return
    }
    let sort = request.sort
    if sort.isEmpty {
      // Only entries with equal keys are in order of record id.
      servesOrder = ranges.ranges.count == 1 && ranges.fixedParts == index.parts.count
      return
    }
    if let end = end(of: sort, from: ranges.fixedParts) {
      servesOrder = true
      access.order = .keys(parts: end)
    } else if ranges.pointParts > ranges.fixedParts,
      let end = end(of: sort, from: ranges.pointParts)
    {
      servesOrder = true
      access.order = .merged(parts: end)
    }
  }

  /// Returns the first part after the sort keys that would split the range. Records with equal sort
  /// keys are in order of record id only within one range; if parts after the sort keys would split
  /// it into several, they are left to the filter.
  ///
  /// - Returns: `nil` if there is no such part.
  private func splitOrder(_ sets: [IntervalSet]) -> Int? {
    guard case .keys(let end) = access.order, end < usedParts else { return nil }
    return (end..<usedParts).first { sets[$0].intervals.count > 1 }
  }

  /// Returns the end of the sort keys in the index if they follow the parts before `start`, all in
  /// the requested direction or all in the opposite one; `nil` if they do not.
  private mutating func end(of sort: [BoundSort], from start: Int) -> Int? {
    var isReversed: Bool?
    for (number, key) in sort.enumerated() {
      guard start + number < index.parts.count else { return nil }
      let part = index.parts[start + number]
      guard key.position == part.position, key.key == part.collation,
        start + number != index.listPart
      else { return nil }
      let differs = part.isDescending != key.isDescending
      if let isReversed, isReversed != differs { return nil }
      isReversed = differs
    }
    access.isReversed = isReversed ?? false
    return start + sort.count
  }

  /// Returns true if no record has to be read.
  private func keysHoldAll(_ request: BoundRequest) -> Bool {
    guard var needed = request.attributes, servesOrder, !access.mayRepeat,
      !request.isOrdered || readsInKeyOrder
    else { return false }
    for (number, conjunct) in request.conjuncts.enumerated() where !covered.contains(number) {
      guard let attributes = conjunct.program.attributes else { return false }
      needed.formUnion(attributes)
    }
    let held = index.parts.enumerated()
      .filter { $0.offset != index.listPart && $0.element.isDecodable }.map(\.element.position)
    return needed.isSubset(of: held)
  }
}

extension IndexCandidate {
  /// True if the entries are in the order of the request without sorting: this excludes equal keys
  /// read backward, and truncated keys.
  private var readsInKeyOrder: Bool {
    access.order == .keys(parts: index.parts.count) && (!access.isReversed || index.isUnique)
      && !index.parts.contains(where: \.isText)
  }
}

extension BoundRequest {
  fileprivate func isNullable(_ position: Int) -> Bool {
    entity.description.attributes[position].isOptional
  }
}
