import CMooringICU

/// A folding of texts: those that differ only in case, or only in diacritics, get the same bytes.
package struct TextFolding: Hashable, Sendable {
  /// Full case folding of Unicode, for no language in particular: `Straße` as `strasse`.
  package var foldsCase: Bool
  /// Canonical decomposition, without nonspacing marks (general category Mn): `Äpfel` as `Apfel`.
  package var foldsDiacritics: Bool

  package init(case foldsCase: Bool = false, diacritics foldsDiacritics: Bool = false) {
    self.foldsCase = foldsCase
    self.foldsDiacritics = foldsDiacritics
  }

  /// Names the data that folding goes by: folded texts of another version may be other texts.
  package static var version: String { ICU.version }

  /// Appends the folded text. It is well-formed UTF-8 unless nothing is to be folded; ill-formed
  /// sequences become U+FFFD. Folding a folded text again changes nothing.
  ///
  /// O(bytes). ASCII needs neither ICU nor memory beyond what `folded` has reserved.
  package func fold(_ text: UnsafeRawBufferPointer, into folded: inout [UInt8]) {
    guard foldsCase || foldsDiacritics, !text.allSatisfy(Unicode.ASCII.isASCII) else {
      if foldsCase {
        folded.append(contentsOf: text.lazy.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 })
      } else {
        folded.append(contentsOf: text)
      }
      return
    }
    let flags =
      (foldsCase ? MOORING_FOLD_CASE : 0) | (foldsDiacritics ? MOORING_FOLD_DIACRITICS : 0)
    // Few characters get longer, none to more than three times its bytes.
    folded.append(capacity: 64 + text.count) { buffer in
      // SAFETY: ICU writes at most `buffer.count` bytes, and reads within the text's length.
      mooring_fold(text.baseAddress, text.count, UInt32(flags), buffer.baseAddress, buffer.count)
    }
  }
}
