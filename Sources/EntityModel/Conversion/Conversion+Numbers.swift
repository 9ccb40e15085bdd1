import Foundation

/// The conversion of numbers and booleans into each other.
extension Conversion {
  func integer(_ value: Value) throws(ConversionFailure) -> Value {
    if scale == nil {
      switch value {
      case .int64: return value
      case .bool(let flag): return .int64(flag ? 1 : 0)
      default: break
      }
    }
    switch try number(value).integer(round) {
    case .exactly(let whole): return .int64(whole)
    case .inexact: throw .init(.inexact, value, "is no whole number; say how to round")
    case .tooGreat:
      if case .int64 = atMost { return atMost }
      throw .init(.outOfRange, value, "is beyond 64 bits")
    case .tooSmall:
      if case .int64 = atLeast { return atLeast }
      throw .init(.outOfRange, value, "is beyond 64 bits")
    }
  }

  func double(_ value: Value) throws(ConversionFailure) -> Value {
    if scale == nil {
      switch value {
      case .double: return value
      case .int64(let whole):
        if round == nil, Double(exactly: whole) == nil { break }
        return .double(Double(whole))
      default: break
      }
    }
    guard let (nearest, isExact) = try number(value).double else {
      throw .init(.outOfRange, value, "is beyond the greatest double")
    }
    if !isExact, round == nil {
      throw .init(.inexact, value, "has more digits than a double; say how to round")
    }
    return .double(nearest)
  }

  func decimal(_ value: Value) throws(ConversionFailure) -> Value {
    if scale == nil {
      switch value {
      case .decimal: return value
      case .int64(let whole): return .decimal(Decimal(whole))
      default: break
      }
    }
    guard let decimal = try number(value).decimal else {
      throw .init(.outOfRange, value, "has more digits than a decimal")
    }
    return .decimal(decimal)
  }

  func bool(_ value: Value) throws(ConversionFailure) -> Value {
    switch value {
    case .bool: return value
    // The usual case, as other databases store booleans as 0 and 1: no text is built.
    case .int64(let number) where number == 0 || number == 1: return .bool(number == 1)
    case .int64, .double, .decimal, .string: break
    default: throw mismatch(value, .bool)
    }
    switch Conversion.word(of: value) {
    case "true", "1": return .bool(true)
    case "false", "0": return .bool(false)
    default: throw .init(.badBool, value, "is neither true nor false; name it in the cases")
    }
  }

  /// The number of a value, multiplied by ``scale``.
  private func number(_ value: Value) throws(ConversionFailure) -> ExactNumber {
    let number: ExactNumber? =
      switch value {
      case .int64(let number): ExactNumber(number)
      case .double(let number): ExactNumber(number)
      case .decimal(let number): ExactNumber(number)
      case .bool(let flag): ExactNumber(Int64(flag ? 1 : 0))
      case .string(let text): ExactNumber(text)
      case .date:
        throw .init(.typeMismatch, value, "is a date; say with date: which number it becomes")
      default: throw .init(.typeMismatch, value, "cannot become a number")
      }
    guard let number else { throw .init(.badNumber, value, "is no number") }
    guard let scale else { return number }
    guard let factor = ExactNumber(scale), let product = number.multiplied(by: factor) else {
      throw .init(.outOfRange, value, "times \(scale) has too many digits")
    }
    return product
  }
}
