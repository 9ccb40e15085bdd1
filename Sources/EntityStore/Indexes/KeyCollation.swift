package import EntityModel
import UnicodeText

/// What index keys and sorted fetches have in the place of a text, so that it sorts by a collation
/// and not by its bytes: a sort key of ICU, or the text with its case folded.
///
/// A class, as the many copies of what holds one then cost a reference each. It is immutable.
package final class KeyCollation: Sendable {
  let collation: Collation
  /// Names the data that the keys come from: those of another version are not to be compared with
  /// these.
  let version: String
  private let form: Form

  private enum Form {
    case folded(TextFolding)
    case sortKey(Collator)
  }

  /// - Returns: `nil` for the binary collation, in which a text stands for itself.
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

  /// Whether a key shows the text, if folded, and not only its place.
  var keepsText: Bool {
    switch form {
    case .folded: true
    case .sortKey: false
    }
  }

  /// Appends what stands in the place of a text. These bytes compare as the texts do, and are equal
  /// where the texts are.
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

  /// The whole key component of a text.
  func component(_ text: [UInt8]) -> [UInt8] {
    let key = text.withUnsafeBytes { self.key(of: $0) }
    return key.withUnsafeBytes { KeyComponent.bytes(ofText: $0) }
  }
}

/// Two of one collation yield the same within a process.
extension KeyCollation: Equatable {
  package static func == (a: KeyCollation, b: KeyCollation) -> Bool { a.collation == b.collation }
}

extension KeyCollation {
  /// The version that an index with these collations is made with.
  ///
  /// - Returns: `nil` without collations: all keys are binary.
  static func version(of collations: [KeyCollation]) -> String? {
    var versions: [String] = []
    for collation in collations where !versions.contains(collation.version) {
      versions.append(collation.version)
    }
    return versions.isEmpty ? nil : versions.joined(separator: "; ")
  }

  /// - Throws: `invalidRequest` for an unknown locale.
  package static func version(of keys: [IndexKey]) throws(StoreError) -> String? {
    var collations: [KeyCollation] = []
    for key in keys {
      if let collation = try of(key.collation) { collations.append(collation) }
    }
    return version(of: collations)
  }
}
