import EntityModel
import EntityStore
import FeedDocuments

/// The statistics of one member of a document's items.
struct MemberProfile {
  /// The steps from the item.
  let steps: [MemberStep]
  /// The number of items with a value other than null.
  private(set) var present = 0
  private(set) var nulls = 0
  /// The number of values of each kind, in the order of the kinds.
  private var counts = Array(repeating: 0, count: Kind.allCases.count)
  /// The first value that is neither empty nor null, shortened.
  private(set) var example: String?
  private(set) var shapes = TextShapes()
  private(set) var numbers = DateVotes()
  private(set) var html = 0
  private(set) var durations = 0
  private(set) var clocks = 0
  /// The texts that contain a space.
  private(set) var spaced = 0
  /// The dates of RFC 3339.
  private var exactDates = 0
  /// The dates among the inspected texts that a sync reads without a declared form.
  private var feedDates = 0
  /// The texts that were inspected for what takes long: HTML, durations and clock times.
  private var samples = 0
  /// True if all elements of arrays are texts or numbers.
  private(set) var isListOfScalars = true
  private(set) var values = MemberValues()
  /// The number of different texts and numbers. Empty texts do not count.
  private(set) var different = 0
  private var firstValue: [UInt8]?
  /// True if several items have the member, all with the same value.
  private(set) var isConstant = false

  private static let exampleCharacters = 60
  /// The bytes of a text that are inspected.
  private static let bytesMax = 4_096
  private static let samplesMax = 2_000

  /// A type of JSON, by its name in an inspection.
  enum Kind: String, CaseIterable {
    case array, bool, int, number, object, string
  }

  init(steps: [MemberStep]) { self.steps = steps }

  /// The kinds of the values, by name.
  var kinds: [Kind] { zip(Kind.allCases, counts).filter { $1 > 0 }.map(\.0) }

  /// Names, and 0 for the first element of an array, from the item.
  var tokens: [String] { steps.map(\.token) }

  var pointer: String { JSONPointer(tokens: tokens).description }

  /// True if no two items have the same value, and none an empty text.
  var isUnique: Bool { present > 0 && different == present }

  mutating func add(_ value: JSONValue, ofItem item: Int) {
    guard !value.isNull else {
      nulls += 1
      return
    }
    present += 1
    if let place = Kind.allCases.firstIndex(of: value.memberKind) { counts[place] += 1 }
    values.add(value, ofItem: item)
    switch value.kind {
    case .string:
      note(value)
      add(text: String(decoding: value.textBytes.prefix(Self.bytesMax), as: UTF8.self))
    case .int64:
      numbers.add(Double(value.int64 ?? 0))
      note(value)
    case .double:
      numbers.add(value.double ?? 0)
      note(value)
    case .bool, .unrepresentable: note(value)
    case .array: add(list: value)
    case .object, .null: break
    }
  }

  /// Counts the different values, once all items were added.
  mutating func countDifferent() { different = values.different }

  private mutating func add(text: String) {
    let dates = shapes.iso8601
    shapes.add(text)
    if shapes.iso8601 > dates, DateText.rfc3339(text) != nil { exactDates += 1 }
    if text.utf8.contains(0x20) { spaced += 1 }
    guard samples < Self.samplesMax, !text.isEmpty else { return }
    samples += 1
    if text.firstMatch(of: /<\/?[A-Za-z][^<>]*>|&(amp|lt|gt|quot|nbsp|#[0-9]+);/) != nil {
      html += 1
    }
    if Self.looksLikeDate(text), FeedDate.date(text) != nil { feedDates += 1 }
    guard text.utf8.count <= 32 else { return }
    if text.wholeMatch(of: /P([0-9]+[WD])*(T([0-9.]+[HMS])+)?/) != nil, text.utf8.count > 2 {
      durations += 1
    }
    if text.wholeMatch(of: /[0-9]{1,3}(:[0-5][0-9]){1,2}/) != nil { clocks += 1 }
  }

  /// Returns true for a text that is no number or version and may be a date.
  private static func looksLikeDate(_ text: String) -> Bool {
    guard (8...64).contains(text.utf8.count) else { return false }
    let digits = text.utf8.count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let separators = text.utf8.count { "-/:, ".utf8.contains($0) }
    return digits >= 4 && separators >= 2
  }

  private mutating func add(list: JSONValue) {
    let first = list.elements.prefix(8)
    let texts = first.filter { [.string, .int64, .double].contains($0.kind) }
    if texts.count < Array(first).count { isListOfScalars = false }
    if example == nil, isListOfScalars, !texts.isEmpty {
      example = Self.cut(texts.map(\.text).joined(separator: ", "))
    }
  }

  private mutating func note(_ value: JSONValue) {
    if example == nil, !value.textBytes.isEmpty {
      example = Self.cut(
        String(decoding: value.textBytes.prefix(Self.bytesMax), as: UTF8.self))
    }
    if let firstValue {
      isConstant = firstValue.elementsEqual(value.textBytes) && (isConstant || present == 2)
    } else {
      firstValue = Array(value.textBytes)
    }
  }

  private static func cut(_ text: String) -> String {
    let line = text.prefix(exampleCharacters).split(whereSeparator: \.isNewline)
      .joined(separator: " ")
    return text.count > exampleCharacters ? line + "…" : line
  }
}

extension MemberProfile {
  enum Look: String {
    case date = "RFC 3339 date"
    case looseDate = "ISO 8601 date"
    case mailDate = "RFC 822 date"
    case feedDate = "date"
    case epochSeconds = "seconds since 1970"
    case epochMilliseconds = "milliseconds since 1970"
    case url = "URL"
    case uuid = "UUID"
    case html = "HTML"
    case digits = "digits"
    case duration = "ISO 8601 duration"
    case clock = "clock time"
  }

  /// The form of at least nine of ten values; for HTML one of ten is enough.
  var look: Look? {
    if isText {
      let texts = present - shapes.empty
      guard texts > 0 else { return nil }
      func most(_ count: Int) -> Bool { count * 10 >= texts * 9 }
      if most(shapes.iso8601) { return exactDates == shapes.iso8601 ? .date : .looseDate }
      if most(shapes.rfc822) { return .mailDate }
      if samples > 0, feedDates * 10 >= samples * 9 { return .feedDate }
      if most(shapes.urls) { return .url }
      if most(shapes.uuids) { return .uuid }
      if clocks * 10 >= samples * 9 { return .clock }
      if durations * 10 >= samples * 9 { return .duration }
      if most(shapes.numbers) { return .digits }
      return html * 10 >= samples ? .html : nil
    }
    guard isNumber, hasDateName else { return nil }
    let forms = numbers.candidates.map(\.form)
    if forms.contains(.unixMilliseconds) { return .epochMilliseconds }
    return forms.contains(.unixSeconds) ? .epochSeconds : nil
  }

  /// True if a sync reads the texts as dates without a declared form.
  var isReadAsDates: Bool { samples > 0 && feedDates == samples }

  /// True if the name suggests a date. A number alone is none: counts have the same size.
  private var hasDateName: Bool {
    let words = Set(tokens.flatMap { NameWords($0).words })
    return !words.isDisjoint(with: [
      "at", "date", "time", "timestamp", "ts", "created", "updated", "modified", "published",
      "changed", "on", "since", "until", "expires",
    ])
  }

  /// True if all values are texts or numbers.
  var isScalar: Bool { isOnly([.string, .int, .number]) }
  var isText: Bool { isOnly([.string]) }
  var isWholeNumber: Bool { isOnly([.int]) }
  var isNumber: Bool { isOnly([.int, .number]) }
  var isBool: Bool { isOnly([.bool]) }
  var isList: Bool { isOnly([.array]) && isListOfScalars && example != nil }

  private func isOnly(_ some: Set<Kind>) -> Bool { present > 0 && some.isSuperset(of: kinds) }
}

extension JSONValue {
  /// The kind of a value other than null.
  fileprivate var memberKind: MemberProfile.Kind {
    switch kind {
    case .bool: .bool
    case .int64: .int
    case .double, .unrepresentable: .number
    case .string: .string
    case .array: .array
    case .object, .null: .object
    }
  }
}
