import EntityModel
import Foundation

/// A proposal to read a column as dates, with their form and the evidence.
struct DateGuess: Sendable {
  var conversion = Conversion()
  var evidence: [String] = []
  var unconfirmed: String?

  // MARK: Numbers

  /// - Returns: `nil` unless the name or the declared type says so, and nine of ten numbers agree.
  init?(numbersOf column: SourceColumn, _ profile: ColumnProfile) {
    let declared = DeclaredType(column.declaredType)
    guard declared == .date || DateNames.contains(column.name) else { return nil }
    let candidates = profile.dates.candidates
    guard let best = Self.likeliest(candidates.map(\.form), profile) else { return nil }
    conversion.date = best
    let votes = candidates.first { $0.form == best }?.votes ?? 0
    evidence.append(
      "\(votes) of \(profile.dates.numbers) numbers are dates of our years in \(best.rawValue)")
    takeSentinels(profile)
    if best == .unixSeconds, profile.dates.wrapped > 0, profile.dates.least >= 0 {
      conversion.date = .wrappedUnixSeconds
    }
    noteRange(profile)
    if let doubt = doubt(column, profile, candidates) {
      unconfirmed = readings(profile, candidates.map(\.form)).question(doubt)
    }
  }

  /// Returns the reason why the numbers may be something else; `nil` if no other reading is
  /// plausible.
  private func doubt(
    _ column: SourceColumn, _ profile: ColumnProfile,
    _ candidates: [(form: Conversion.DateForm, votes: Int)]
  ) -> String? {
    guard let best = conversion.date else { return nil }
    if [.unixSeconds, .wrappedUnixSeconds].contains(best),
      profile.sampleNumbers.allSatisfy(Self.isPackedDate)
    {
      return "the digits are those of dates, too, such as 1703051230 for 2017-03-05 12:30"
    }
    if best == .wrappedUnixSeconds {
      return "\(profile.dates.wrapped) numbers are after 2038, or before 1970 in 32 bits"
    }
    if candidates.count > 1 {
      let forms = candidates.map(\.form.rawValue).sorted()
      return "the numbers fit \(forms.joined(separator: " or "))"
    }
    if best == .coreDataSeconds, profile.fractions == 0 {
      return "Core Data writes fractions of seconds, and these numbers are whole"
    }
    // Of numbers with more digits, nine of ten are in so narrow a range by no accident.
    let others = profile.dates.numbers - (candidates.first?.votes ?? 0)
    if others > 0, [.unixSeconds, .coreDataSeconds, .julianDay].contains(best) {
      return "\(others) of \(profile.dates.numbers) numbers are of other times"
    }
    if let greatest = Self.greatestSince2001[best], profile.dates.greatest <= greatest {
      return "the dates are before 2001, and of our years if they are counted from 2001"
    }
    return DateNames.mayBeDuration(column.name) ? "the name may be that of a duration" : nil
  }

  /// Returns true for a number of ten digits that are year, month, day, hour and minute, or year
  /// with four digits, month, day and hour.
  private static func isPackedDate(_ value: Value) -> Bool {
    guard case .int64(let number) = value, number >= 1_000_000_000, number < 10_000_000_000
    else { return false }
    func areFields(_ month: Int64, _ day: Int64, _ hour: Int64) -> Bool {
      (1...12).contains(month) && (1...31).contains(day) && hour < 24
    }
    let pairs = [1_000_000, 10_000, 100, 1].map { number / $0 % 100 }
    return areFields(pairs[0], pairs[1], pairs[2]) && pairs[3] < 60
      || areFields(pairs[1], pairs[2], pairs[3])
  }

  /// The number that is a date of the year 2031 if it is counted from 2001, by the form that has
  /// the same unit. These numbers are dates before 2001 in that form.
  private static let greatestSince2001: [Conversion.DateForm: Double] = [
    .unixMilliseconds: 970_000_000_000, .unixMicroseconds: 970_000_000_000_000,
  ]

  private func readings(
    _ profile: ColumnProfile, _ candidates: [Conversion.DateForm]
  ) -> Readings {
    let numbers = profile.sampleNumbers
    var forms = [conversion.date].compactMap { $0 }
    for form in candidates where !forms.contains(form) { forms.append(form) }
    var readings = Readings()
    for form in forms { readings.add(form, numbers) }
    readings.addPlain(numbers, areTexts: profile.texts > 0)
    return readings
  }

  /// Returns the more likely one of the forms that fit.
  private static func likeliest(
    _ forms: [Conversion.DateForm], _ profile: ColumnProfile
  ) -> Conversion.DateForm? {
    let hasFractions = profile.fractions > 0
    if forms.contains(.coreDataSeconds), forms.contains(.unixSeconds) {
      return hasFractions ? .coreDataSeconds : .unixSeconds
    }
    // Whole Julian days are small numbers like many others.
    return forms.first { $0 != .julianDay || hasFractions }
  }

  private mutating func takeSentinels(_ profile: ColumnProfile) {
    for (word, count) in profile.dates.seenSentinels {
      conversion.nullValues.insert(word)
      evidence.append("\(word) (\(count) times) stands for no date")
    }
  }

  private mutating func noteRange(_ profile: ColumnProfile) {
    guard let form = conversion.date else { return }
    let dates = profile.sampleNumbers.map { Readings.date($0, form) }
    if let least = dates.first, let least, let greatest = dates.last, let greatest {
      evidence.append("from \(least) to \(greatest)")
    } else {
      evidence.append("some are beyond the years 1 to 9999 and become rejects")
    }
  }

  // MARK: Texts

  /// - Returns: `nil` unless all texts are dates of one form, or numbers that are.
  init?(textsOf column: SourceColumn, _ profile: ColumnProfile) {
    let shapes = profile.shapes
    let texts = profile.texts - shapes.empty
    guard texts > 0, profile.badTexts == 0, profile.oversized == 0 else { return nil }
    let isNamed =
      DeclaredType(column.declaredType) == .date || DateNames.contains(column.name)
    if shapes.numbers == texts {
      guard let guess = DateGuess(numbersOf: column, profile) else { return nil }
      self = guess
    } else if profile.numbers == 0, isNamed || texts >= 3 {
      guard shapes.iso8601 == texts || shapes.rfc822 == texts else { return nil }
      conversion.date = shapes.iso8601 == texts ? .iso8601 : .rfc822
      evidence.append("all \(texts) texts are dates")
      if shapes.withoutZone > 0 {
        conversion.zoneMinutes = 0
        unconfirmed = readings(profile).question(
          "\(shapes.withoutZone) of \(texts) dates do not say their time zone; UTC is assumed")
      }
    } else {
      return nil
    }
    if shapes.empty > 0 {
      conversion.emptyIsNull = true
      evidence.append("the empty text (\(shapes.empty) times) stands for no date")
    }
  }

  private func readings(_ profile: ColumnProfile) -> Readings {
    let texts = profile.distinct.sorted.compactMap { entry -> String? in
      guard case .text(let text) = entry.cell, !text.isEmpty else { return nil }
      return text
    }
    let samples = Array(Set([texts.first, texts.last].compactMap { $0 })).sorted()
    let dates = samples.map { (try? conversion.value(from: .string($0), to: .date).text) ?? "none" }
    var readings = Readings()
    readings.add(conversion.date?.rawValue ?? "date", dates)
    readings.add("string", samples.map(ImportMapping.quoted))
    return readings
  }
}
