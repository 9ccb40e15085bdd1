public import EntityModel

/// The changes from one version of live results to the next.
///
/// Places that rows leave (`delete`, `from`, the `at` of an update) are those of the old version;
/// places that rows take (`insert`, `to`) are those of the new one. Rows that are only shifted by
/// others are not listed. Section changes come before row changes, and each list has deletions,
/// insertions, moves and updates in this order, each by ascending place (moves and updates: the
/// place in the new version). A collection view can apply a difference as one batch of updates.
public struct ResultsDifference<T: Sendable>: Sendable {
  public let sections: [SectionChange]
  public let rows: [ResultsChange<T>]

  public var isEmpty: Bool { sections.isEmpty && rows.isEmpty }
}

/// The change of one row.
public enum ResultsChange<T: Sendable>: Sendable {
  case delete(at: ResultsIndex, id: ObjectID)
  case insert(at: ResultsIndex, LiveRow<T>)
  /// The order or the section changed; the content may have changed too.
  case move(from: ResultsIndex, to: ResultsIndex, LiveRow<T>)
  /// The content changed, but neither the order nor the section.
  case update(at: ResultsIndex, to: ResultsIndex, LiveRow<T>)
}

/// An inserted or deleted section. A section whose number of rows alone changed is not listed.
public enum SectionChange: Hashable, Sendable {
  case delete(at: Int, name: Value)
  case insert(at: Int, name: Value)
}

extension ResultsChange: Equatable where T: Equatable {}
extension ResultsDifference: Equatable where T: Equatable {}

extension ResultsSnapshot {
  /// Returns the next version and the changes, given the rows that changed. O(c · log n + sections)
  /// for c changes, whatever the number of rows.
  ///
  /// - Parameter transitions: Every row that was inserted, deleted or changed, once. All others
  ///   count as unchanged and must have the same key and section in both versions.
  func advanced(
    to rows: OrderedRows<LiveRow<T>>, window: ResultsWindow,
    by transitions: [RowTransition<RowKey>]
  ) -> (snapshot: ResultsSnapshot, difference: ResultsDifference<T>) {
    let difference = RowsDifference(
      from: windowed, to: rows, window: window, transitions: transitions)
    return (ResultsSnapshot(difference.new), ResultsDifference(difference))
  }

  /// Returns the next version and the changes, after all rows were fetched again. O(n + c · log n)
  /// for c rows whose key or content hash has changed.
  func refetched(
    as rows: OrderedRows<LiveRow<T>>, window: ResultsWindow
  ) -> (snapshot: ResultsSnapshot, difference: ResultsDifference<T>) {
    advanced(
      to: rows, window: window, by: RowTransition.transitions(from: windowed.rows, to: rows))
  }
}

extension ResultsDifference {
  /// Converts ranks into places of the old and of the new version.
  fileprivate init(_ difference: RowsDifference<LiveRow<T>>) {
    let (old, new) = (difference.old, difference.new)
    sections = difference.sections.changes
    rows =
      difference.deleted.map { .delete(at: old.index(ofRank: $0), id: old.rows[$0].id) }
      + difference.inserted.map { .insert(at: new.index(ofRank: $0), new.rows[$0]) }
      + difference.moved.map {
        .move(
          from: old.index(ofRank: $0.old), to: new.index(ofRank: $0.new), new.rows[$0.new])
      }
      + difference.updated.map {
        .update(at: old.index(ofRank: $0.old), to: new.index(ofRank: $0.new), new.rows[$0.new])
      }
  }
}
