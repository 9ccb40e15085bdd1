import EntityModel
import Foundation
import UnicodeText

/// A test of one text against a constant: by bytes, folded, or collated.
package struct TextTest {
  let operation: Operation
  let form: Form
  /// The constant, converted to the form.
  let operand: [UInt8]
  private let scratch = ScratchBytes()

  enum Operation {
    case order(OrderTest)
    case contains, beginsWith, endsWith
    case like(TextPattern)
    case matches(RegularExpression.Matcher, pattern: String)
    case within(ByteSet, hasNull: Bool)
  }

  /// The form into which texts are converted before they are compared.
  enum Form {
    case bytes
    case folded(TextFolding)
    case collated(Collator, Collator.Options)
  }

  /// Creates the test of a comparison operator.
  ///
  /// - Parameter comparison: Not `BETWEEN` and not `IN`, which the binder decomposes.
  /// - Throws: `invalidRequest` for an invalid regular expression.
  init(_ comparison: ComparisonOperator, _ text: String, _ options: ComparisonOptions) throws {
    var form = try Form(options, isOrder: OrderTest(comparison) != nil)
    var text = text
    switch comparison {
    case .contains: operation = .contains
    case .beginsWith: operation = .beginsWith
    case .endsWith: operation = .endsWith
    case .like:
      operation = .like(TextPattern(text, folding: form.folding))
    case .matches:
      let ignoresCase = options.contains(.caseInsensitive) && !options.contains(.normalized)
      operation = .matches(try TextTest.matcher(text, ignoresCase: ignoresCase), pattern: text)
      form = try Form(options.subtracting(.caseInsensitive), isOrder: false)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .isIn:
      operation = .order(OrderTest(comparison) ?? .equal)
    }
    self.form = form
    operand =
      if case .collated = form { Array(text.utf8) } else {
        text.withUTF8 { form.form(UnsafeRawBufferPointer($0)) }
      }
  }

  /// Creates the test that a text is one of several.
  init(within texts: [String], hasNull: Bool, _ options: ComparisonOptions) throws {
    let form = try Form(options, isOrder: true)
    let formed = texts.map { text in
      var text = text
      return text.withUTF8 { form.form(UnsafeRawBufferPointer($0)) }
    }
    operation = .within(ByteSet(formed), hasNull: hasNull)
    self.form = form
    operand = []
  }

  private static func matcher(
    _ pattern: String, ignoresCase: Bool
  ) throws -> RegularExpression.Matcher {
    do {
      return try RegularExpression(pattern, ignoresCase: ignoresCase).matcher()
    } catch {
      throw StoreError(
        .invalidRequest, "a regular expression cannot be read",
        [("pattern", pattern), ("problem", "\(error)")])
    }
  }

  /// Evaluates the test.
  ///
  /// - Throws: `invalidRequest` when a regular expression exceeds its limits.
  func evaluate(_ text: UnsafeRawBufferPointer) throws -> Logic {
    switch (operation, form) {
    case (.matches(let matcher, let pattern), _):
      return Logic(try form.with(text, scratch) { try TextTest.matches(matcher, $0, pattern) })
    case (.order(let test), .collated(let collator, _)):
      return Logic(operand.withUnsafeBytes { test.holds(collator.compare(text, $0), 0) })
    default: return form.with(text, scratch) { evaluate(formed: $0) }
    }
  }

  private func evaluate(formed text: UnsafeRawBufferPointer) -> Logic {
    operand.withUnsafeBytes { operand in
      switch operation {
      case .order(let test): Logic(test.holds(compare(text, operand), 0))
      case .contains: Logic(TextTest.contains(text, operand))
      case .beginsWith: Logic(text.count >= operand.count && text.starts(with: operand))
      case .endsWith:
        Logic(
          text.count >= operand.count
            && UnsafeRawBufferPointer(rebasing: text.suffix(operand.count)).elementsEqual(operand))
      case .like(let pattern): Logic(pattern.matches(text))
      case .within(let set, let hasNull):
        set.contains(text) ? .yes : (hasNull ? .unknown : .no)
      case .matches: .no
      }
    }
  }

  private static func matches(
    _ matcher: RegularExpression.Matcher, _ text: UnsafeRawBufferPointer, _ pattern: String
  ) throws -> Bool {
    do {
      return try matcher.matchesWhole(text)
    } catch {
      throw StoreError(
        .invalidRequest, "a regular expression cannot be matched",
        [("pattern", pattern), ("problem", "\(error)")])
    }
  }

  private static func contains(
    _ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer
  ) -> Bool {
    guard let first = part.first else { return true }
    guard let start = text.baseAddress, let wanted = part.baseAddress else { return false }
    var place = 0
    while place + part.count <= text.count {
      // SAFETY: both searches end within the text, and the comparison does by the condition above.
      let rest = text.count - part.count + 1 - place
      guard let found = memchr(start + place, Int32(first), rest) else { return false }
      if memcmp(found, wanted, part.count) == 0 { return true }
      place = UnsafeRawPointer(found) - start + 1
    }
    return false
  }
}

extension TextTest.Form {
  /// Creates the form for some options.
  ///
  /// - Parameter isOrder: True for a test of the order, the only one to which `[l]` applies.
  init(_ options: ComparisonOptions, isOrder: Bool) throws {
    if options.contains(.normalized) {
      self = .bytes
      return
    }
    let ignoresCase = options.contains(.caseInsensitive)
    let ignoresDiacritics = options.contains(.diacriticInsensitive)
    if options.contains(.localized), isOrder {
      var collation: Collator.Options = []
      if ignoresCase { collation.insert(.ignoresCase) }
      if ignoresDiacritics { collation.insert(.ignoresDiacritics) }
      self = .collated(try Collator.shared(locale: "", options: collation), collation)
    } else if ignoresCase || ignoresDiacritics {
      self = .folded(TextFolding(case: ignoresCase, diacritics: ignoresDiacritics))
    } else {
      self = .bytes
    }
  }

  /// The folding of texts; without options it does nothing.
  var folding: TextFolding {
    if case .folded(let folding) = self { folding } else { TextFolding() }
  }

  func form(_ text: UnsafeRawBufferPointer) -> [UInt8] { with(text, ScratchBytes()) { Array($0) } }

  /// Calls the closure with the text in the form; for a collation, with the sort key.
  func with<R>(
    _ text: UnsafeRawBufferPointer, _ scratch: ScratchBytes,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    if case .bytes = self { return try body(text) }
    var formed = scratch.take()
    defer { scratch.bytes = formed }
    switch self {
    case .bytes: break
    case .folded(let folding): folding.fold(text, into: &formed)
    case .collated(let collator, _): collator.appendSortKey(of: text, to: &formed)
    }
    return try formed.withUnsafeBytes(body)
  }
}

/// A buffer that is used for one row after another, so that a row that the filter drops allocates
/// nothing. It belongs to one thread.
final class ScratchBytes {
  var bytes: [UInt8] = []

  /// Returns the buffer, empty and with its memory. The caller must put it back.
  func take() -> [UInt8] {
    var taken: [UInt8] = []
    swap(&taken, &bytes)
    taken.removeAll(keepingCapacity: true)
    return taken
  }
}

extension TextTest {
  var isCostly: Bool { if case .matches = operation { true } else { false } }

  /// Returns true if index keys of the collation hold texts in the form of this test.
  func hasForm(of collation: KeyCollation?) -> Bool {
    switch (form, collation?.collation) {
    case (.bytes, nil): true
    case (.folded(let folding), .caseInsensitive): folding == TextFolding(case: true)
    case (.collated(_, let options), .localizedStandard("")): options == []
    default: false
    }
  }

  /// Returns the constant as a key with this collation holds it.
  func keyOperand(of collation: KeyCollation?) -> [UInt8] {
    guard case .collated = form, let collation else { return operand }
    return operand.withUnsafeBytes { collation.key(of: $0) }
  }
}
