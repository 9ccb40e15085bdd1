/// A set of byte strings that is searched without creating one.
package struct ByteSet {
  /// The elements in ascending order of their bytes, without duplicates.
  let elements: [[UInt8]]

  init(_ elements: some Sequence<[UInt8]>) {
    self.elements = Set(elements).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Returns true if the set contains the bytes.
  ///
  /// - Complexity: O(log *n*) comparisons; allocates nothing.
  func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var low = 0
    var high = elements.count
    while low < high {
      let middle = (low + high) / 2
      let order = elements[middle].withUnsafeBytes { compare(bytes, $0) }
      if order == 0 { return true }
      if order < 0 { high = middle } else { low = middle + 1 }
    }
    return false
  }
}
