import EntityModel
import EntityStore
import FeedDocuments

/// The statistics of one member of a document's items.
struct MemberProfile {
  /// Names, and 0 for the first element of an array, from the item.
  let tokens: [String]
  /// The number of items with a value other than null.
  private(set) var present = 0
  private(set) var nulls = 0
  /// The number of values of each kind.
  private(set) var kinds: [String: Int] = [:]
  /// The first value that is neither empty nor null, shortened.
  private(set) var example: String?
  private(set) var shapes = TextShapes()
  private(set) var numbers = DateVotes()
  private(set) var html = 0
  private(set) var durations = 0
  private(set) var clocks = 0
  /// True if all elements of arrays are texts or numbers.
  private(set) var isListOfScalars = true
  /// The hashes of the values; nil after one came twice.
  private var values: Set<Int64>? = []
  private var firstValue: Int64?
  /// True if several items have the member, all with the same value.
  private(set) var isConstant = false

  private static let exampleCharacters = 60
  /// The bytes of a text that are inspected.
  private static let bytesMax = 4_096

  init(tokens: [String]) { self.tokens = tokens }

  var pointer: String { JSONPointer(tokens: tokens).description }

  /// True if no two items have the same value.
  var isUnique: Bool { values != nil && present > 0 }

  mutating func add(_ value: JSONValue) {
    guard !value.isNull else {
      nulls += 1
      return
    }
    present += 1
    kinds[value.kindName, default: 0] += 1
    switch value.kind {
    case .string: add(text: String(decoding: value.textBytes.prefix(Self.bytesMax), as: UTF8.self))
    case .int64:
      numbers.add(Double(value.int64 ?? 0))
      note(value.text)
    case .double:
      numbers.add(value.double ?? 0)
      note(value.text)
    case .bool, .unrepresentable: note(value.text)
    case .array: add(list: value)
    case .object, .null: break
    }
  }

  private mutating func add(text: String) {
    note(text)
    shapes.add(text)
    if text.firstMatch(of: /<\/?[A-Za-z][^<>]*>|&(amp|lt|gt|quot|nbsp|#[0-9]+);/) != nil {
      html += 1
    }
    guard text.utf8.count <= 32 else { return }
    if text.wholeMatch(of: /P([0-9]+[WD])*(T([0-9.]+[HMS])+)?/) != nil, text.utf8.count > 2 {
      durations += 1
    }
    if text.wholeMatch(of: /[0-9]{1,3}(:[0-5][0-9]){1,2}/) != nil { clocks += 1 }
  }

  private mutating func add(list: JSONValue) {
    let first = list.elements.prefix(8)
    let texts = first.filter { [.string, .int64, .double].contains($0.kind) }
    if texts.count < Array(first).count { isListOfScalars = false }
    if example == nil, isListOfScalars, !texts.isEmpty {
      example = Self.cut(texts.map(\.text).joined(separator: ", "))
    }
  }

  private mutating func note(_ text: String) {
    if example == nil, !text.isEmpty { example = Self.cut(text) }
    let value = ContentHash.of(text)
    if values?.insert(value).inserted == false { values = nil }
    isConstant = firstValue != nil && value == firstValue && (isConstant || present == 2)
    firstValue = firstValue ?? value
  }

  private static func cut(_ text: String) -> String {
    let line = text.prefix(exampleCharacters + 1).split(whereSeparator: \.isNewline)
      .joined(separator: " ")
    return text.count > exampleCharacters ? line.prefix(exampleCharacters) + "…" : line
  }
}

extension MemberProfile {
  enum Look: String {
    case date = "RFC 3339 date"
    case looseDate = "ISO 8601 date"
    case mailDate = "RFC 822 date"
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
    if let texts = kinds["string"], texts == present {
      let texts = texts - shapes.empty
      guard texts > 0 else { return nil }
      func most(_ count: Int) -> Bool { count * 10 >= texts * 9 }
      if most(shapes.iso8601) { return exactDates ? .date : .looseDate }
      if most(shapes.rfc822) { return .mailDate }
      if most(shapes.urls) { return .url }
      if most(shapes.uuids) { return .uuid }
      if most(clocks) { return .clock }
      if most(durations) { return .duration }
      if most(shapes.numbers) { return .digits }
      return html * 10 >= texts ? .html : nil
    }
    guard isNumber, hasDateName else { return nil }
    let forms = numbers.candidates.map(\.form)
    if forms.contains(.unixMilliseconds) { return .epochMilliseconds }
    return forms.contains(.unixSeconds) ? .epochSeconds : nil
  }

  /// True if the dates are complete, with an offset.
  private var exactDates: Bool {
    shapes.withoutZone == 0 && example.flatMap { DateText.rfc3339($0) } != nil
  }

  /// True if the name suggests a date. A number alone is none: counts have the same size.
  private var hasDateName: Bool {
    let words = Set(tokens.flatMap { NameWords($0).words })
    return !words.isDisjoint(with: [
      "at", "date", "time", "timestamp", "ts", "created", "updated", "modified", "published",
      "changed", "on", "since", "until", "expires",
    ])
  }

  var isText: Bool { kinds["string"] == present && present > 0 }
  var isWholeNumber: Bool { kinds["int"] == present && present > 0 }
  var isNumber: Bool {
    present > 0 && kinds["int", default: 0] + kinds["number", default: 0] == present
  }
  var isBool: Bool { kinds["bool"] == present && present > 0 }
  var isList: Bool { kinds["array"] == present && isListOfScalars && example != nil }
}

extension JSONValue {
  /// The name of the type in an inspection.
  fileprivate var kindName: String {
    switch kind {
    case .null: "null"
    case .bool: "bool"
    case .int64: "int"
    case .double, .unrepresentable: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}
