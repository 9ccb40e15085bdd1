import EntityModel

/// The kind of a change.
package enum HistoryKind: Int {
  case insert, update, delete, unrecorded

  private static let codes: [ValueKind] = [
    .int64, .double, .decimal, .bool, .string, .date, .uuid, .data, .url, .strings,
  ]

  static func code(of kind: ValueKind) -> UInt8 {
    UInt8(codes.firstIndex(of: kind) ?? codes.count)
  }

  static func kind(of code: UInt8) -> ValueKind? {
    Int(code) < codes.count ? codes[Int(code)] : nil
  }
}

/// A key of the tree `history`.
struct HistoryKey {
  let sequence: Int64
  let part: UInt32
}

extension HistoryKey {
  /// Decodes a key.
  ///
  /// - Returns: `nil` for bytes that are no key, and for the least and the greatest number: a
  ///   number has one before it and one after it.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 12 else { return nil }
    sequence = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    part = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    guard (1..<Int64.max).contains(sequence) else { return nil }
  }

  /// Returns true if nothing is missing between the two keys.
  ///
  /// - Parameter previous: `nil` for the beginning of the stored history.
  func follows(_ previous: HistoryKey?) -> Bool {
    guard let previous else { return part == 0 }
    if sequence == previous.sequence { return part == previous.part &+ 1 }
    return sequence == previous.sequence &+ 1 && part == 0
  }

  func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    var bytes = (sequence.bigEndian, part.bigEndian)
    // SAFETY: the two fields are adjacent, 8 bytes and 4, without padding.
    return try withUnsafeBytes(of: &bytes) {
      try body(UnsafeRawBufferPointer(rebasing: $0.prefix(12)))
    }
  }
}

extension StoreError {
  static var damagedHistory: StoreError {
    StoreError(
      .damaged, "the history cannot be read",
      advice: "run `mooring check`; records and indexes do not depend on it")
  }
}
