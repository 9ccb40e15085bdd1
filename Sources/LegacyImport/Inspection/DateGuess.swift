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
    if candidates.count > 1 {
      let forms = candidates.map(\.form.rawValue).sorted().joined(separator: " or ")
      unconfirmed = "the numbers fit \(forms): \(Self.shown(profile, candidates.map(\.form)))"
    }
    takeSentinels(profile)
    if best == .unixSeconds, profile.dates.wrapped > 0, profile.dates.least >= 0 {
      conversion.date = .wrappedUnixSeconds
      unconfirmed =
        "\(profile.dates.wrapped) numbers are after 2038, or before 1970 in 32 bits: confirm the "
        + "latter, or write unixSeconds"
    }
    noteRange(profile)
  }

  /// Returns the more likely one of the forms that fit.
  private static func likeliest(
    _ forms: [Conversion.DateForm], _ profile: ColumnProfile
  ) -> Conversion.DateForm? {
    let hasReals = profile.reals > 0
    if forms.contains(.coreDataSeconds), forms.contains(.unixSeconds) {
      return hasReals ? .coreDataSeconds : .unixSeconds
    }
    // Whole Julian days are small numbers like many others.
    return forms.first { $0 != .julianDay || hasReals }
  }

  private mutating func takeSentinels(_ profile: ColumnProfile) {
    for (word, count) in profile.dates.seenSentinels {
      conversion.nullValues.insert(word)
      evidence.append("\(word) (\(count) times) stands for no date")
    }
  }

  private mutating func noteRange(_ profile: ColumnProfile) {
    guard let form = conversion.date else { return }
    let ends = [profile.dates.least, profile.dates.greatest].map { Self.date($0, form) }
    if let least = ends[0], let greatest = ends[1] {
      evidence.append("from \(least) to \(greatest)")
    } else {
      evidence.append("some are beyond the years 1 to 9999 and become rejects")
    }
  }

  private static func shown(_ profile: ColumnProfile, _ forms: [Conversion.DateForm]) -> String {
    forms.map { "\($0.rawValue) gives \(date(profile.dates.greatest, $0) ?? "none") as the last" }
      .sorted().joined(separator: ", ")
  }

  /// Returns the date as text; `nil` if the number is no date in this form.
  private static func date(_ number: Double, _ form: Conversion.DateForm) -> String? {
    let value = Int64(exactly: number).map(Value.int64) ?? .double(number)
    return try? Conversion(date: form).value(from: value, to: .date).text
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
        unconfirmed =
          "\(shapes.withoutZone) of \(texts) dates do not say their time zone: is it UTC?"
      }
    } else {
      return nil
    }
    if shapes.empty > 0 {
      conversion.emptyIsNull = true
      evidence.append("the empty text (\(shapes.empty) times) stands for no date")
    }
  }
}
