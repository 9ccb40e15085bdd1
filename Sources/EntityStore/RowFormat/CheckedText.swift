import CMooringJSON
import TextFormats

/// Bytes that are well-formed UTF-8, with the result of `UTF8Span(validating:)`. That takes several
/// times as long if the text is not ASCII throughout.
@usableFromInline
struct CheckedText {
  @usableFromInline let bytes: UnsafeRawBufferPointer
  @usableFromInline let isASCII: Bool

  /// Checks a text.
  ///
  /// - Parameter isWellFormed: True if the text has been checked together with others.
  /// - Returns: `nil` if the bytes are not well-formed.
  @inline(__always)
  init?(_ bytes: UnsafeRawBufferPointer, isWellFormed: Bool = false) {
    isASCII = bytes.isASCII
    guard isASCII || isWellFormed || CheckedText.isWellFormed(bytes) else { return nil }
    self.bytes = bytes
  }

  /// Returns true if the bytes are well-formed UTF-8: one call of simdjson, which tests 32 bytes at
  /// a time.
  static func isWellFormed(_ bytes: UnsafeRawBufferPointer) -> Bool {
    mooring_utf8_is_well_formed(bytes.baseAddress, bytes.count)
  }
}
