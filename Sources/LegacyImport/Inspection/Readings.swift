import EntityModel

/// The ways in which the values of a column can be read, with what each makes of a few of them.
///
/// The first word of a reading is the one by which `mooring import confirm` chooses it.
struct Readings: Sendable {
  private var parts: [String] = []

  /// - Parameter samples: The values under this reading, as text.
  mutating func add(_ word: String, _ samples: [String]) {
    parts.append("\(word) gives \(samples.joined(separator: ", "))")
  }

  /// Adds the numbers as dates of a form.
  mutating func add(_ form: Conversion.DateForm, _ numbers: [Value]) {
    add(form.rawValue, numbers.map { Self.date($0, form) ?? "no date" })
  }

  /// Adds the numbers as they are. Texts stay texts, which may begin with zeros.
  mutating func addPlain(_ numbers: [Value], areTexts: Bool) {
    let isWhole = numbers.allSatisfy { if case .int64 = $0 { true } else { false } }
    add(areTexts ? "string" : isWhole ? "int64" : "double", numbers.map(\.text))
  }

  /// The readings after the reason for the doubt.
  func question(_ reason: String) -> String { "\(reason): \(parts.joined(separator: "; "))" }

  /// Returns the date as text; `nil` if the number is no date in this form.
  static func date(_ number: Value, _ form: Conversion.DateForm) -> String? {
    try? Conversion(date: form).value(from: number, to: .date).text
  }
}

extension ColumnProfile {
  /// The least number, one in the middle and the greatest, without those that stand for no date.
  var sampleNumbers: [Value] {
    guard dates.numbers > 0 else { return [] }
    let whole = distinct.sorted.compactMap { entry -> Double? in
      guard case .integer(let number) = entry.cell else { return nil }
      return (dates.least...dates.greatest).contains(Double(number)) ? Double(number) : nil
    }
    let middle = whole.isEmpty ? [] : [whole[whole.count / 2]]
    var samples: [Value] = []
    for number in [dates.least] + middle + [dates.greatest] {
      let value = Int64(exactly: number).map(Value.int64) ?? .double(number)
      if !samples.contains(value) { samples.append(value) }
    }
    return samples
  }
}
