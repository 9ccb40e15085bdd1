/// The new values of some attributes of a row, by position.
package struct RowChanges: Sendable {
  package struct Change: Sendable {
    package let position: Int
    package fileprivate(set) var value: Value
  }

  package private(set) var entries: [Change] = []
  /// A bit field with bit *p* mod 64 set for each changed position *p*. It shows for most unchanged
  /// positions, without a search, that they have no new value.
  package private(set) var marks: UInt64 = 0

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  /// The new value at a position; `nil` if it is unchanged.
  ///
  /// - Complexity: O(*c*) for *c* changes.
  package subscript(position: Int) -> Value? {
    guard let number = number(of: position) else { return nil }
    return entries[number].value
  }

  package func has(_ position: Int) -> Bool { number(of: position) != nil }

  package mutating func set(_ position: Int, to value: Value) {
    if let number = number(of: position) {
      entries[number].value = value
    } else {
      if entries.isEmpty { entries.reserveCapacity(24) }
      entries.append(Change(position: position, value: value))
      marks |= Self.mark(position)
    }
  }

  /// Returns the changes that do not satisfy the closure: these changes if none does.
  package func without(_ isLeftOut: (Change) throws -> Bool) rethrows -> RowChanges {
    guard let first = try entries.firstIndex(where: isLeftOut) else { return self }
    var rest = RowChanges()
    for change in entries[..<first] { rest.set(change.position, to: change.value) }
    for change in entries[(first + 1)...] where try !isLeftOut(change) {
      rest.set(change.position, to: change.value)
    }
    return rest
  }

  /// Removes all changes and keeps their memory.
  package mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    marks = 0
  }

  /// Returns the row with the new values in place.
  package func laid(over row: consuming [Value]) -> [Value] {
    for change in entries { row[change.position] = change.value }
    return row
  }

  @inline(__always)
  private func number(of position: Int) -> Int? {
    guard marks & Self.mark(position) != 0 else { return nil }
    return entries.firstIndex { $0.position == position }
  }

  @inlinable
  @inline(__always)
  package static func mark(_ position: Int) -> UInt64 {
    1 &<< UInt64(truncatingIfNeeded: position & 63)
  }
}
