extension MutableCollection where Self: RandomAccessCollection {
  // A default for `criteria` would do, but a call that leaves it out would have to be marked `try`.

  /// Sorts in place by a key path, ascending: `episodes.sort(by: \.progress)`.
  public mutating func sort<T: Comparable>(by keyPath: KeyPath<Element, T>) {
    sort(by: keyPath) { $0 < $1 }
  }

  /// Sorts in place by a key path.
  ///
  /// - Parameter criteria: Whether its first argument comes before its second.
  public mutating func sort<T: Comparable>(
    by keyPath: KeyPath<Element, T>, criteria: (T, T) throws -> Bool
  ) rethrows {
    try sort { try criteria($0[keyPath: keyPath], $1[keyPath: keyPath]) }
  }
}

extension Sequence {
  /// The elements sorted by a key path, ascending.
  public func sorted<T: Comparable>(by keyPath: KeyPath<Element, T>) -> [Element] {
    sorted(by: keyPath) { $0 < $1 }
  }

  /// The elements sorted by a key path.
  ///
  /// - Parameter criteria: Whether its first argument comes before its second.
  public func sorted<T: Comparable>(
    by keyPath: KeyPath<Element, T>, criteria: (T, T) throws -> Bool
  ) rethrows -> [Element] {
    try sorted { try criteria($0[keyPath: keyPath], $1[keyPath: keyPath]) }
  }

  /// The values at a key path, in order.
  public func map<T>(by keyPath: KeyPath<Element, T>) -> [T] { map { $0[keyPath: keyPath] } }

  /// The elements for which a flag at a key path is set.
  public func filter(by keyPath: KeyPath<Element, Bool>) -> [Element] {
    filter { $0[keyPath: keyPath] }
  }

  /// The elements whose value at a key path satisfies a condition.
  public func filter<T>(
    by keyPath: KeyPath<Element, T>, where condition: (T) throws -> Bool
  ) rethrows -> [Element] {
    try filter { try condition($0[keyPath: keyPath]) }
  }
}
