import EntityModel

/// The sections of the next version, computed from those of the old one and the rows that left or
/// arrived.
struct SectionsDifference {
  let old: SectionList
  let new: SectionList
  /// The old section that each new section continues; `nil` for an inserted one. Old sections that
  /// are not named are deleted.
  let continued: [Int?]

  private struct Entry {
    let name: Value
    var count: Int
    /// The section with this name in the old version.
    var old: Int?
    /// The position of the section's first row; known where all its rows have arrived.
    var start: Int?
  }

  /// Computes the sections. O(sections + rows · log sections).
  ///
  /// - Parameter leaving: The old positions of rows that leave their place.
  /// - Parameter arriving: The section and the new position of rows that take a place.
  init(from old: SectionList, leaving: [Int], arriving: [(name: Value, position: Int)]) {
    self.old = old
    guard old.isSectioned else {
      new = SectionList(undivided: old.count - leaving.count + arriving.count)
      continued = [0]
      return
    }
    let (anchored, arrived) = Self.entries(of: old, leaving, arriving)
    var entries = Self.merged(anchored, arrived)
    // Where sections changed their order, those with rows that stayed keep their identity.
    let order = entries.compactMap(\.old)
    if !zip(order, order.dropFirst()).allSatisfy(<) {
      for place in entries.indices where entries[place].start != nil { entries[place].old = nil }
    }
    new = SectionList(
      entries.map { ResultsSection(name: $0.name, count: $0.count) }, isSectioned: true)
    continued = entries.map(\.old)
  }

  var changes: [SectionChange] {
    let kept = Set(continued.compactMap { $0 })
    let deletions = old.sections.enumerated().filter { !kept.contains($0.offset) }
    let insertions = zip(new.sections.indices, continued).filter { $0.1 == nil }
    return deletions.map { .delete(at: $0.offset, name: $0.element.name) }
      + insertions.map { .insert(at: $0.0, name: new.sections[$0.0].name) }
  }

  /// Returns the sections with rows that stayed, in their order, and the sections all of whose rows
  /// have arrived, in theirs.
  private static func entries(
    of old: SectionList, _ leaving: [Int], _ arriving: [(name: Value, position: Int)]
  ) -> (anchored: [Entry], arrived: [Entry]) {
    var staying = old.sections.map(\.count)
    for position in leaving { staying[old.index(ofPosition: position).section] -= 1 }
    var arrivals: [Value: Entry] = [:]
    for (name, position) in arriving {
      var entry = arrivals[name] ?? Entry(name: name, count: 0, start: position)
      entry.count += 1
      entry.start = entry.start.map { min($0, position) }
      arrivals[name] = entry
    }
    var anchored: [Entry] = []
    for (place, section) in old.sections.enumerated() {
      if staying[place] > 0 {
        let arrival = arrivals.removeValue(forKey: section.name)
        anchored.append(
          Entry(name: section.name, count: staying[place] + (arrival?.count ?? 0), old: place))
      } else {
        arrivals[section.name]?.old = place
      }
    }
    return (anchored, arrivals.values.sorted { ($0.start ?? 0) < ($1.start ?? 0) })
  }

  /// Puts each arrived section before the first anchored one that begins after it.
  private static func merged(_ anchored: [Entry], _ arrived: [Entry]) -> [Entry] {
    var merged: [Entry] = []
    var rest = arrived[...]
    var position = 0
    for section in anchored {
      while let next = rest.first, let start = next.start, start <= position {
        merged.append(rest.removeFirst())
        position += next.count
      }
      merged.append(section)
      position += section.count
    }
    return merged + rest
  }
}
