public import EntityModel

/// One version of live results: rows in order, divided into sections. It never changes.
///
/// A copy takes O(1), and versions share what is equal in both. Positions count from 0 over all
/// sections; indexes name a section and a place in it. One that does not exist is a programming
/// error, as with an array.
public struct ResultsSnapshot<T: Sendable>: Sendable {
  let windowed: WindowedRows<LiveRow<T>>

  init(_ windowed: WindowedRows<LiveRow<T>>) { self.windowed = windowed }

  /// The sections in order. Results that are not divided have exactly one, with all rows. Otherwise
  /// no section is empty.
  public var sections: [ResultsSection] { windowed.sections.sections }

  /// Returns the row at an index. O(log n).
  public subscript(index: ResultsIndex) -> LiveRow<T> {
    guard let position = windowed.sections.position(of: index) else {
      preconditionFailure("there is no row at \(index)")
    }
    return self[position]
  }

  /// Returns the rows of a section, in order.
  public func rows(inSection section: Int) -> Slice<ResultsSnapshot> {
    self[windowed.sections.positions(of: section)]
  }

  /// Returns the index of a position. O(log sections).
  public func index(ofPosition position: Int) -> ResultsIndex {
    precondition(indices ~= position, "there is no row at position \(position)")
    return windowed.sections.index(ofPosition: position)
  }

  /// Returns the index of the row with an identity; `nil` if it is not among the rows. O(n).
  public func index(of id: ObjectID) -> ResultsIndex? {
    for (position, row) in enumerated() where row.id == id {
      return index(ofPosition: position)
    }
    return nil
  }
}

extension ResultsSnapshot: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { windowed.range.count }

  /// Returns the row at a position. O(log n). A loop over all rows takes O(n).
  public subscript(position: Int) -> LiveRow<T> {
    precondition(indices ~= position, "there is no row at position \(position)")
    return windowed.rows[windowed.range.lowerBound + position]
  }

  public func makeIterator() -> AnyIterator<LiveRow<T>> {
    AnyIterator(windowed.rows.rows(at: windowed.range))
  }
}

extension ResultsSnapshot: Equatable where T: Equatable {
  public static func == (left: ResultsSnapshot, right: ResultsSnapshot) -> Bool {
    left.sections == right.sections && left.elementsEqual(right)
  }
}
