extension MutableCollection where Self: RandomAccessCollection {
  // Not a default for `criteria`: a call without it would then need `try`.

  /// Sorts in place by a key path, ascending: `episodes.sort(by: \.progress)`.
  public mutating func sort<T: Comparable>(by keyPath: KeyPath<Element, T>) {
    sort(by: keyPath) { $0 < $1 }
  }

  /// Sorts in place by a key path.
  ///
  /// - Parameter criteria: Returns true if its first argument comes before its second.
  public mutating func sort<T: Comparable>(
    by keyPath: KeyPath<Element, T>, criteria: (T, T) throws -> Bool
  ) rethrows {
    try sort { try criteria($0[keyPath: keyPath], $1[keyPath: keyPath]) }
  }
}

extension Sequence {
  /// Returns the elements sorted by a key path, ascending.
  public func sorted<T: Comparable>(by keyPath: KeyPath<Element, T>) -> [Element] {
    sorted(by: keyPath) { $0 < $1 }
  }

  /// Returns the elements sorted by a key path.
  ///
  /// - Parameter criteria: Returns true if its first argument comes before its second.
  public func sorted<T: Comparable>(
    by keyPath: KeyPath<Element, T>, criteria: (T, T) throws -> Bool
  ) rethrows -> [Element] {
    try sorted { try criteria($0[keyPath: keyPath], $1[keyPath: keyPath]) }
  }

  /// Returns the values at a key path, in order.
  public func map<T>(by keyPath: KeyPath<Element, T>) -> [T] { map { $0[keyPath: keyPath] } }

  /// Returns the elements whose flag at a key path is true.
  public func filter(by keyPath: KeyPath<Element, Bool>) -> [Element] {
    filter { $0[keyPath: keyPath] }
  }

  /// Returns the elements whose value at a key path satisfies a condition.
  public func filter<T>(
    by keyPath: KeyPath<Element, T>, where condition: (T) throws -> Bool
  ) rethrows -> [Element] {
    try filter { try condition($0[keyPath: keyPath]) }
  }
}
