import CMooringXXHash
import EntityModel

/// A hash that shows whether content has changed: XXH3, 64 bits, the same in all versions of the
/// program.
package enum ContentHash {
  package static func of(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    Int64(bitPattern: mooring_xxh3_64(bytes.baseAddress, bytes.count))
  }

  package static func of(_ text: String) -> Int64 {
    var text = text
    return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
  }
}

/// A hash of stored bytes and of the place where they belong, by which damage is found. LMDB has no
/// checksums of its own.
///
/// It is the low half of the XXH3 of the bytes, combined with a multiple of the place, so that
/// bytes that are found at another place do not match. A place is a pair of numbers: those of the
/// entity and of the record, or of a transaction of the history and of its part.
enum Seal {
  static let byteCount = 4

  @inline(__always)
  static func of(
    _ bytes: UnsafeRawBufferPointer, at place: (UInt64, UInt64)
  ) -> UInt32 {
    let hash = mooring_xxh3_64(bytes.baseAddress, bytes.count)
    // Both factors are odd, so that each bit of a number changes the product.
    let product = (place.0 &* 0x9E37_79B1_85EB_CA87 &+ place.1) &* 0xC2B2_AE3D_27D4_EB4F
    return UInt32(truncatingIfNeeded: hash ^ product ^ product >> 32)
  }
}
