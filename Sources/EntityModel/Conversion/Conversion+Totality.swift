extension Conversion {
  /// Returns true only if every value that a store can hold is converted; otherwise success depends
  /// on the data. The answer is conservative: it may be false where no value would be refused.
  public func isTotal(from: AttributeType, to: AttributeType) -> Bool {
    switch orElse {
    case .refuse: return isTotalWithoutFallback(from, to)
    case .null: return hasOnlyFittingCases(to)
    case .value(let value):
      return (value.isNull || value.kind == to.kind) && hasOnlyFittingCases(to)
    }
  }

  private func isTotalWithoutFallback(_ from: AttributeType, _ to: AttributeType) -> Bool {
    if !cases.isEmpty {
      return from.kind == .bool && cases["true"] != nil && cases["false"] != nil
        && hasOnlyFittingCases(to)
    }
    switch to {
    case .reference: return false
    case .enumeration where from.kind != to.kind: return false
    case .enumeration: return true
    default: break
    }
    var kind = from.kind
    if kind == .data, let encoding, to.kind != .data {
      if encoding == .utf8 { return false }
      kind = .string
    }
    if date != nil { return kind == .date && to.kind == .date }
    switch (kind, to.kind) {
    case (.strings, .string): return separator == nil
    case (_, .string): return true
    case (.string, .strings): return separator.map { !$0.isEmpty } ?? false
    case (.string, .data): return encoding == .utf8
    case (.uuid, .data): return true
    case (.int64, .double), (.decimal, .double): return round != nil && scale == nil
    case (.bool, .int64), (.bool, .double), (.bool, .decimal), (.int64, .decimal),
      (.int64, .int64), (.double, .double), (.decimal, .decimal):
      return scale == nil
    default: return kind == to.kind
    }
  }

  private func hasOnlyFittingCases(_ type: AttributeType) -> Bool {
    cases.values.allSatisfy { $0.isNull || $0.kind == type.kind }
  }
}
