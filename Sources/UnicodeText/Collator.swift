import CMooringICU
import SystemSupport

/// The order of texts as people of a locale expect it, numbers in number order.
///
/// Texts are UTF-8 bytes; ill-formed sequences count as U+FFFD, and U+0000 does not count at all.
/// Two texts may be equal here and have different bytes, among them canonically equivalent ones.
// @unchecked: ICU allows concurrent use of a collator that no thread changes. This one is
// not changed after `init`, and closed when the last reference is released.
package final class Collator: @unchecked Sendable {
  /// The differences between texts that the collator ignores.
  package struct Options: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let ignoresCase = Options(rawValue: 1)
    package static let ignoresDiacritics = Options(rawValue: 2)
  }

  /// Names the data that decides the order. Sort keys compare with each other only if they were
  /// made by collators of the same locale, options and version.
  package let version: String

  private let collator: OpaquePointer

  /// - Parameter locale: an identifier such as `de`, `zh_TW` or `de@collation=phonebook`; empty is
  ///   the root locale.
  /// - Throws: `UnicodeTextError` of code `localeUnknown` if ICU has no data for the locale. It
  ///   would take the data of another one.
  package init(locale: String, options: Options = []) throws(UnicodeTextError) {
    let name = try LocaleName(locale)
    var status: mooring_icu_status = 0
    guard let collator = mooring_collator_open(name.text, options.strength, &status) else {
      throw UnicodeTextError(
        .other, "ICU cannot open a collation",
        context: [("locale", locale), ("cause", UnicodeTextError.name(of: status))],
        advice: "check that the data of ICU is installed")
    }
    self.collator = collator
    var own = VersionText()
    var root = VersionText()
    own.withBytes { own in
      root.withBytes { root in mooring_collator_versions(collator, own, root) }
    }
    version = "\(ICU.version), root \(root.text), collation \(own.text)"
  }

  deinit { mooring_collator_close(collator) }

  private struct Variant: Hashable {
    let locale: String
    let options: Options
  }

  private static let opened = Locked<[Variant: Collator]>([:])
  /// The maximum number of shared collators. The bound is above the needs of programs, and limits
  /// the memory that many spellings of locales can take.
  private static let openedMax = 256

  /// Returns a collator that is shared by all callers with the same arguments: opening one takes
  /// far longer than using it.
  package static func shared(
    locale: String, options: Options = []
  ) throws(UnicodeTextError) -> Collator {
    let variant = Variant(locale: locale, options: options)
    return try opened.withLock {
      (opened: inout [Variant: Collator]) throws(UnicodeTextError) -> Collator in
      if let collator = opened[variant] { return collator }
      let collator = try Collator(locale: locale, options: options)
      if opened.count < openedMax { opened[variant] = collator }
      return collator
    }
  }

  /// Less than, equal to or greater than 0 as `first` stands before, with or after `second`.
  /// O(bytes), and without allocation for texts of usual length.
  package func compare(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
    // SAFETY: ICU reads within the lengths, and the buffers outlive the call.
    Int(
      mooring_collator_compare(
        collator, first.baseAddress, first.count, second.baseAddress, second.count))
  }

  /// Appends bytes that compare, as unsigned bytes and a shorter key before its continuations, as
  /// the texts do. Equal texts have equal keys. A key holds no byte 00; the empty text's key, like
  /// that of any text which is equal to it, is made of level separators (01).
  package func appendSortKey(of text: UnsafeRawBufferPointer, to keys: inout [UInt8]) {
    // A key has one to three bytes for a letter, and then a few for all of its accents and case.
    keys.append(capacity: 64 + 2 * text.count) { buffer in
      // SAFETY: ICU writes at most `buffer.count` bytes, and reads within the text's length.
      mooring_collator_sort_key(
        collator, text.baseAddress, text.count, buffer.baseAddress, buffer.count)
    }
  }
}

extension Collator.Options {
  var strength: mooring_strength {
    switch (contains(.ignoresCase), contains(.ignoresDiacritics)) {
    case (false, false): MOORING_STRENGTH_TERTIARY
    case (true, false): MOORING_STRENGTH_SECONDARY
    case (false, true): MOORING_STRENGTH_PRIMARY_WITH_CASE
    case (true, true): MOORING_STRENGTH_PRIMARY
    }
  }
}

extension [UInt8] {
  /// Appends what `write` writes. It gets a buffer, says how many bytes it needs, and is asked once
  /// more with as many if the first buffer was too small. Short results need no allocation.
  mutating func append(capacity: Int, write: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
    let needed = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
      let count = write(buffer)
      if count <= capacity { append(contentsOf: buffer.prefix(count)) }
      return count
    }
    if needed > capacity { append(capacity: needed, write: write) }
  }
}
