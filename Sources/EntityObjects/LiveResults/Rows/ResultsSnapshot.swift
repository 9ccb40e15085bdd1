public import EntityModel

/// One version of live results: rows in order, divided into sections. It never changes.
///
/// A copy costs nothing, and versions share what is equal in both. Positions count from 0 over all
/// sections; indexes name a section and a place in it. One that is not there is a mistake of the
/// caller, as with an array.
public struct ResultsSnapshot<T: Sendable>: Sendable {
  let windowed: WindowedRows<LiveRow<T>>

  init(_ windowed: WindowedRows<LiveRow<T>>) { self.windowed = windowed }

  /// Without sections there is exactly one, with all rows. No section is empty otherwise.
  public var sections: [ResultsSection] { windowed.sections.sections }

  /// O(log n).
  public subscript(index: ResultsIndex) -> LiveRow<T> {
    guard let position = windowed.sections.position(of: index) else {
      preconditionFailure("there is no row at \(index)")
    }
    return self[position]
  }

  /// The rows of a section, in order.
  public func rows(inSection section: Int) -> Slice<ResultsSnapshot> {
    self[windowed.sections.positions(of: section)]
  }

  /// O(log sections).
  public func index(ofPosition position: Int) -> ResultsIndex {
    precondition(indices ~= position, "there is no row at position \(position)")
    return windowed.sections.index(ofPosition: position)
  }

  /// Where the row with an identity stands; `nil` if it is not among the rows. O(n).
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

  /// O(log n). A loop over all rows takes O(n).
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
