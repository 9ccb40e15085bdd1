/// Bytes to which others are appended: one copy of memory each time. The generic code of an array
/// takes several times as long for a short text.
@frozen
@usableFromInline
package struct ByteBuffer: Sendable {
  /// The bytes, and room for others.
  @usableFromInline
  var storage: [UInt8] = []
  @usableFromInline
  package var count = 0

  @inlinable
  package init() {}

  @inlinable
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    let (start, end) = (count, count + bytes.count)
    if end > storage.count { grow(to: end) }
    storage.withUnsafeMutableBytes { storage in
      // SAFETY: the storage has at least `end` bytes.
      storage.baseAddress.unsafelyUnwrapped.advanced(by: start)
        .copyMemory(from: source, byteCount: end - start)
    }
    count = end
  }

  /// The number of bytes for which there is memory.
  package var room: Int { storage.count }

  @usableFromInline
  mutating func grow(to size: Int) {
    let room = max(64, size, 2 * storage.count) - storage.count
    storage.append(contentsOf: repeatElement(0, count: room))
  }

  /// Removes the bytes after the first `count`, and keeps their memory.
  @inlinable
  package mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= self.count)
    self.count = count
  }

  @inlinable
  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.withUnsafeBufferPointer { storage throws(Failure) in
      try body(UnsafeRawBufferPointer(start: storage.baseAddress, count: count))
    }
  }
}
