public import EntityModel

/// The place of a row: its section, and its place in that section (Core Data's `IndexPath`). Both
/// count from 0.
public struct ResultsIndex: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var section: Int
  public var item: Int

  public init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }

  public static func < (left: ResultsIndex, right: ResultsIndex) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }

  public var description: String { "(\(section), \(item))" }
}

/// A section of live results and the number of its rows. Only results that are not divided have a
/// section that may be empty: exactly one, whose name is null.
public struct ResultsSection: Hashable, Sendable, Codable {
  public let name: Value
  public let count: Int

  public init(name: Value, count: Int) {
    self.name = name
    self.count = count
  }
}

/// The sections in order, with the position of the first row of each.
struct SectionList: Sendable {
  let sections: [ResultsSection]
  /// True if the results are divided into sections. Otherwise there is exactly one section.
  let isSectioned: Bool
  private let starts: [Int]
  /// The number of rows in all sections.
  let count: Int

  init(_ sections: [ResultsSection], isSectioned: Bool) {
    self.sections = sections
    self.isSectioned = isSectioned
    var count = 0
    starts = sections.map { section in
      defer { count += section.count }
      return count
    }
    self.count = count
  }

  /// Creates the single section of results that are not divided.
  init(undivided count: Int) {
    self.init([ResultsSection(name: .null, count: count)], isSectioned: false)
  }

  /// Returns the positions of a section's rows.
  func positions(of section: Int) -> Range<Int> {
    starts[section]..<starts[section] + sections[section].count
  }

  /// Returns the position of an index; `nil` if there is no such row. O(1).
  func position(of index: ResultsIndex) -> Int? {
    guard sections.indices ~= index.section, 0..<sections[index.section].count ~= index.item
    else { return nil }
    return starts[index.section] + index.item
  }

  /// Returns the index of a position in `0..<count`. O(log sections).
  func index(ofPosition position: Int) -> ResultsIndex {
    let section = starts.indices.partitioned { starts[$0] > position } - 1
    return ResultsIndex(section: section, item: position - starts[section])
  }
}
