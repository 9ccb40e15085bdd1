import EntityModel
import Testing
import UnicodeText

/// Compares values under a collation without the keys that indexes have.
enum NaiveCollation {
  /// Null comes first.
  static func order(_ a: Value, _ b: Value, _ collation: Collation) -> Ordering {
    guard collation != .binary, case .string(let first) = a, case .string(let second) = b else {
      return a.compared(with: b)!
    }
    if case .localizedStandard(let locale) = collation {
      do {
        return order(try Collator.shared(locale: locale), Array(first.utf8), Array(second.utf8))
      } catch {
        Issue.record(error)
        return .same
      }
    }
    return Value.string(fold(first)).compared(with: .string(fold(second)))!
  }

  private static func order(_ collator: Collator, _ a: [UInt8], _ b: [UInt8]) -> Ordering {
    let order = a.withUnsafeBytes { a in b.withUnsafeBytes { collator.compare(a, $0) } }
    return order == 0 ? .same : order < 0 ? .ascending : .descending
  }

  static func fold(_ text: String) -> String {
    var folded: [UInt8] = []
    Array(text.utf8).withUnsafeBytes { TextFolding(case: true).fold($0, into: &folded) }
    return String(decoding: folded, as: UTF8.self)
  }
}
