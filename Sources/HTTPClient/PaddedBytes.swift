import Glibc

/// Immutable bytes followed by ``padding`` zero bytes: simdjson reads beyond the end of a document.
// SAFETY (@unchecked Sendable): the memory is written before the value exists and never after,
// and it lives as long as the object.
public final class PaddedBytes: @unchecked Sendable {
  /// The zero bytes after the content: what simdjson asks for (SIMDJSON_PADDING).
  public static let padding = 64

  public let count: Int
  private let start: UnsafeMutableRawPointer

  /// Copies the bytes.
  public convenience init(_ bytes: some Collection<UInt8> = []) {
    var buffer = PaddedBuffer(countMax: bytes.count)
    Array(bytes).withUnsafeBytes { _ = buffer.append($0) }  // `countMax` lets all of it in.
    self.init(buffer)
  }

  /// Takes over the buffer's memory without a copy.
  init(_ buffer: consuming PaddedBuffer) {
    (start, count) = buffer.finish()
  }

  deinit {
    free(start)
  }

  public var isEmpty: Bool { count == 0 }

  /// Calls the closure with the bytes. ``padding`` readable zero bytes follow the last one. The
  /// pointer is valid only during the call. O(1).
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: start, count: count))
  }
}

/// A buffer that grows to at most `countMax` bytes and becomes ``PaddedBytes`` without a copy.
struct PaddedBuffer: ~Copyable {
  private(set) var count = 0
  private let countMax: Int
  private var capacity: Int
  private var start: UnsafeMutableRawPointer

  init(countMax: Int) {
    self.countMax = countMax
    capacity = min(countMax, 16 << 10)
    start = allocate(nil, capacity: capacity)
  }

  deinit {
    free(start)
  }

  /// Appends the bytes. Returns false, and appends nothing, if they do not fit. Memory grows by
  /// doubling, up to `countMax` and the padding.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= countMax - count else { return false }
    guard let source = bytes.baseAddress else { return true }
    if bytes.count > capacity - count {
      capacity = min(countMax, max(capacity * 2, count + bytes.count))
      start = allocate(start, capacity: capacity)
    }
    // SAFETY: at least `bytes.count` bytes are free (checked above). The source is another
    // allocation: this one is private.
    (start + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
    return true
  }

  /// Returns the memory, shrunk to its content, with the padding zeroed. The caller frees it.
  consuming func finish() -> (start: UnsafeMutableRawPointer, count: Int) {
    let (start, count) = (allocate(start, capacity: count), count)
    // SAFETY: every allocation is `padding` bytes longer than its capacity.
    memset(start + count, 0, PaddedBytes.padding)
    discard self
    return (start, count)
  }
}

/// Reallocates to `capacity` bytes and the padding; allocates if `old` is nil.
private func allocate(
  _ old: UnsafeMutableRawPointer?, capacity: Int
) -> UnsafeMutableRawPointer {
  guard let new = realloc(old, capacity + PaddedBytes.padding) else {
    // Swift's own allocations end the process likewise; the limits are set to make it unlikely.
    preconditionFailure("out of memory: \(capacity) bytes for an HTTP body")
  }
  return new
}
