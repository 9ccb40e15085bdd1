import EntityModel
import Foundation

/// The proposed attribute of a column. The type is the one that loses nothing, or a more specific
/// one if the name or the declared type says so and the values agree.
struct ColumnGuess: Sendable {
  let column: String
  /// The name of the attribute, derived from the column's unless a preset has one.
  var name: String
  var type: AttributeType
  var conversion = Conversion.none
  var isOptional: Bool
  var evidence: [String]
  var unconfirmed: String?

  init(_ column: SourceColumn, _ profile: ColumnProfile) {
    self.column = column.name
    name = NameWords(column.name).camelCase
    type = .string
    isOptional = !column.isRequired || profile.nulls > 0
    evidence = [Self.histogram(of: profile, column)]
    if profile.values == 0 {
      guessWithoutValues(DeclaredType(column.declaredType))
    } else if profile.blobs > 0 {
      guessBlobs(profile)
    } else if profile.texts > 0 {
      guessTexts(profile, column)
    } else {
      guessNumbers(profile, column)
    }
    noteTrouble(profile)
    if !conversion.nullValues.isEmpty || conversion.emptyIsNull { isOptional = true }
  }

  // MARK: Types

  private mutating func guessWithoutValues(_ declared: DeclaredType) {
    switch declared {
    case .integer: type = .int64
    case .boolean: type = .bool
    case .real: type = .double
    case .blob: type = .data
    case .text, .date, .decimal, .other: type = .string
    }
    evidence.append("no value was seen: the type is the declared one, or text")
  }

  private mutating func guessBlobs(_ profile: ColumnProfile) {
    if profile.blobs + profile.oversized == profile.values {
      type = .data
      if profile.blobsOf16Bytes == profile.blobs {
        evidence.append("16 bytes each: type uuid takes them, too")
      }
      if profile.propertyLists > 0 {
        evidence.append(
          "\(profile.propertyLists) are binary property lists; archive: with their "
            + "classes reads those "
            + "of NSKeyedArchiver")
      }
      return
    }
    type = .string
    if profile.blobsNotUTF8 == 0 {
      conversion.encoding = .utf8
      evidence.append("blobs among other values, all of them texts in UTF-8")
    } else {
      conversion.encoding = .base64
      unconfirmed =
        "\(profile.blobs) blobs among \(profile.values - profile.blobs) other values: is "
        + "base64 meant?"
    }
  }

  private mutating func guessTexts(_ profile: ColumnProfile, _ column: SourceColumn) {
    let shapes = profile.shapes
    let texts = profile.texts - shapes.empty
    if let guess = DateGuess(textsOf: column, profile) {
      apply(guess)
    } else if profile.numbers > 0 {
      evidence.append("numbers and texts: a text keeps both")
    } else if texts > 0, shapes.booleans == texts,
      DeclaredType(column.declaredType) == .boolean
    {
      type = .bool
      conversion.emptyIsNull = shapes.empty > 0
    } else if texts > 0 {
      noteTexts(profile, texts)
    }
    if DeclaredType.isString(column.declaredType) { noteStringAffinity() }
  }

  private mutating func guessNumbers(_ profile: ColumnProfile, _ column: SourceColumn) {
    let declared = DeclaredType(column.declaredType)
    if let guess = DateGuess(numbersOf: column, profile) { return apply(guess) }
    if DeclaredType.isString(column.declaredType) {
      noteStringAffinity()
      return
    }
    if profile.reals > 0 {
      if profile.integersBeyondDouble > 0 {
        evidence.append("whole numbers beyond 2^53 among reals: a text keeps both")
        return
      }
      type = .double
      if declared == .decimal {
        evidence.append(
          "declared \(column.declaredType), kept as REAL: digits beyond the 15th were "
            + "lost when it was "
            + "written")
      }
      return
    }
    type = .int64
    noteOtherDates(profile)
    guard profile.leastInteger >= 0, profile.greatestInteger <= 1 else { return noteCodes(profile) }
    if declared == .boolean || BooleanNames.contains(column.name) {
      type = .bool
      unconfirmed = booleanDoubt(profile, column)
    } else {
      evidence.append("0 and 1 only: type bool takes them, too")
    }
  }

  /// Returns the reason why 0 and 1 may be numbers: only a type BOOLEAN rules out a 2, or a name
  /// such as is_read or a type of one digit with many values of both kinds.
  private func booleanDoubt(_ profile: ColumnProfile, _ column: SourceColumn) -> String? {
    if column.declaredType.uppercased().contains("BOOL") { return nil }
    let counts = [0, 1].map { profile.distinct.counts[.integer($0)] ?? 0 }
    let isLikely =
      DeclaredType(column.declaredType) == .boolean || BooleanNames.isQuestion(column.name)
    if isLikely, counts.allSatisfy({ $0 >= Self.manyBooleans }) { return nil }
    var readings = Readings()
    readings.add("bool", ["false (\(counts[0]))", "true (\(counts[1]))"])
    readings.add("int64", ["0", "1"])
    return readings.question("0 and 1 only, and as bool a later 2 is a reject")
  }

  /// The number of each of two values that shows, together with a name, that there is no third.
  private static let manyBooleans = 10

  private mutating func apply(_ guess: DateGuess) {
    type = .date
    conversion = guess.conversion
    evidence += guess.evidence
    unconfirmed = guess.unconfirmed
  }

  // MARK: Evidence

  /// Returns a summary such as `VARCHAR(64): 773 texts, 2 null`.
  private static func histogram(of profile: ColumnProfile, _ column: SourceColumn) -> String {
    var parts: [String] = []
    func add(_ count: Int, _ what: String) {
      if count > 0 { parts.append("\(count) \(what)\(count == 1 || what == "null" ? "" : "s")") }
    }
    add(profile.integers, "integer")
    if profile.integers > 0 {
      parts[parts.count - 1] += " (\(profile.leastInteger) to \(profile.greatestInteger))"
    }
    add(profile.reals, "real")
    if profile.reals > 0 {
      parts[parts.count - 1] += " (\(profile.leastReal) to \(profile.greatestReal))"
    }
    add(profile.texts, "text")
    add(profile.blobs, "blob")
    add(profile.nulls, "null")
    let declared = column.declaredType.isEmpty ? "no declared type" : column.declaredType.prefix(40)
    return "\(declared): " + (parts.isEmpty ? "no rows" : parts.joined(separator: ", "))
  }

  private mutating func noteTexts(_ profile: ColumnProfile, _ texts: Int) {
    let shapes = profile.shapes
    if shapes.uuids == texts { evidence.append("all are UUIDs: type uuid takes them, too") }
    if shapes.urls == texts { evidence.append("all are URLs: type url takes them, too") }
    if shapes.iso8601 + shapes.rfc822 > 0 {
      evidence.append(
        "\(shapes.iso8601 + shapes.rfc822) of \(texts) are dates: a text keeps the others")
    }
    noteCodes(profile)
  }

  /// Records the values of a column with few distinct ones, which may be an enumeration.
  private mutating func noteCodes(_ profile: ColumnProfile) {
    let counts = profile.distinct.counts
    guard profile.distinct.isWhole, (2...8).contains(counts.count), profile.values >= 20 else {
      return
    }
    let list = profile.distinct.sorted.map { "\($0.cell.shown) (\($0.count))" }
    evidence.append("few values, perhaps an enum: " + list.joined(separator: ", "))
  }

  private mutating func noteOtherDates(_ profile: ColumnProfile) {
    let precise: Set<Conversion.DateForm> = [
      .unixMilliseconds, .unixMicroseconds, .unixNanoseconds, .webKitMicroseconds,
    ]
    guard profile.dates.numbers >= 3,
      let form = profile.dates.candidates.first(where: { precise.contains($0.form) })?.form
    else { return }
    evidence.append("as dates in \(form.rawValue) the values would be of our years")
  }

  private mutating func noteStringAffinity() {
    evidence.append(
      "declared STRING, of which SQLite makes numbers where it can: what was written as "
        + "00123 is 123"
    )
  }

  private mutating func noteTrouble(_ profile: ColumnProfile) {
    if profile.badTexts > 0 {
      evidence.append(
        "\(profile.badTexts) texts are not UTF-8 and become rejects; badText: latin1 or "
          + "replace takes "
          + "them")
    }
    if profile.oversized > 0 {
      evidence.append(
        "\(profile.oversized) values are over \(Limits.cellBytesMax >> 20) MiB and become rejects")
    }
  }
}

extension Cell {
  /// The value as evidence shows it.
  var shown: String {
    switch self {
    case .null: "null"
    case .integer(let number): String(number)
    case .real(let number): "\(number)"
    case .text(let text): ImportMapping.quoted(text)
    case .badText, .blob, .oversized: "bytes"
    }
  }
}
