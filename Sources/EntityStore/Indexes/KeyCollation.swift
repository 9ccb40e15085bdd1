package import EntityModel
import UnicodeText

/// Converts a text for index keys and sorted fetches, so that it sorts by a collation and not by
/// its bytes: into a sort key of ICU, or into the text with its case folded.
///
/// A class, because the many copies of its owners then cost only one reference each. Immutable.
package final class KeyCollation: Sendable {
  let collation: Collation
  /// The version of the data that the keys are made with. Keys of different versions cannot be
  /// compared.
  let version: String
  private let form: Form

  private enum Form {
    case folded(TextFolding)
    case sortKey(Collator)
  }

  /// Returns the converter for a collation.
  ///
  /// - Returns: `nil` for the binary collation, which sorts by the text itself.
  /// - Throws: `invalidRequest` for an unknown locale.
  package static func of(_ collation: Collation) throws(StoreError) -> KeyCollation? {
    do throws(UnicodeTextError) {
      switch collation {
      case .binary: return nil
      case .caseInsensitive:
        return KeyCollation(
          collation, .folded(TextFolding(case: true)), version: TextFolding.version)
      case .localizedStandard(let locale):
        let collator = try Collator.shared(locale: locale)
        return KeyCollation(collation, .sortKey(collator), version: collator.version)
      }
    } catch {
      throw StoreError(.invalidRequest, error.summary, error.context, advice: "\(error.advice)")
    }
  }

  private init(_ collation: Collation, _ form: Form, version: String) {
    self.collation = collation
    self.form = form
    self.version = version
  }

  /// True if a key contains the text, possibly with its case folded, and not only a sort key.
  var keepsText: Bool {
    switch form {
    case .folded: true
    case .sortKey: false
    }
  }

  /// Appends the converted text. The results compare as the texts do under the collation, and are
  /// equal exactly when the texts are.
  func appendKey(of text: UnsafeRawBufferPointer, to keys: inout [UInt8]) {
    switch form {
    case .folded(let folding): folding.fold(text, into: &keys)
    case .sortKey(let collator): collator.appendSortKey(of: text, to: &keys)
    }
  }

  package func key(of text: UnsafeRawBufferPointer) -> [UInt8] {
    var key: [UInt8] = []
    appendKey(of: text, to: &key)
    return key
  }

  /// Returns the complete key component of a text.
  func component(_ text: [UInt8]) -> [UInt8] {
    let key = text.withUnsafeBytes { self.key(of: $0) }
    return key.withUnsafeBytes { KeyComponent.bytes(ofText: $0) }
  }
}

/// Two converters for the same collation are equal: they give the same keys within a process.
extension KeyCollation: Equatable {
  package static func == (a: KeyCollation, b: KeyCollation) -> Bool { a.collation == b.collation }
}

extension KeyCollation {
  /// Returns the version for a new index with these collations.
  ///
  /// - Returns: `nil` without collations: all keys are binary.
  static func version(of collations: [KeyCollation]) -> String? {
    var versions: [String] = []
    for collation in collations where !versions.contains(collation.version) {
      versions.append(collation.version)
    }
    return versions.isEmpty ? nil : versions.joined(separator: "; ")
  }

  /// Returns the version for a new index with these keys.
  ///
  /// - Throws: `invalidRequest` for an unknown locale.
  package static func version(of keys: [IndexKey]) throws(StoreError) -> String? {
    var collations: [KeyCollation] = []
    for key in keys {
      if let collation = try of(key.collation) { collations.append(collation) }
    }
    return version(of: collations)
  }
}

extension IndexDescription {
  /// True if this program has the version of the collations with which the keys are written. A
  /// program that lacks one of them has no version.
  var hasThisCollation: Bool { (try? KeyCollation.version(of: keys)) == collationVersion }
}
