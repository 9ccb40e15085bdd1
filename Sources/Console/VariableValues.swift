public import EntityModel

/// The values of `--variable NAME=VALUE`, for `$NAME` in predicates.
///
/// A value is a constant of the predicate language (`5`, `"text"`, `nil`, `DATE "…"`, `{1, 2}`);
/// anything else is a text, so that words need no quotes inside those of the shell.
public struct VariableValues: Sendable {
  private var values: [String: FetchExpression] = [:]

  /// - Throws: `CommandError`, and ``PlacedError`` for a quoted text or a list that has a mistake.
  public init(_ assignments: [String]) throws {
    for assignment in assignments {
      let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw CommandError(.usage, "\"\(assignment)\" gives no value; write --variable NAME=VALUE")
      }
      let name = String(parts[0])
      guard values.updateValue(try Self.value(String(parts[1])), forKey: name) == nil else {
        throw CommandError(.usage, "the variable \(name) is given twice")
      }
    }
  }

  private static func value(_ text: String) throws -> FetchExpression {
    do {
      let expression = try FetchExpression(format: text, arguments: [])
      return expression.isConstant ? expression : .value(.string(text))
    } catch {
      let isMeantAsText = !text.contains { "\"'{".contains($0) }
      if isMeantAsText { return .value(.string(text)) }
      throw PlacedError("--variable", error)
    }
  }

  /// The predicate with the values in place of its variables.
  ///
  /// - Throws: `CommandError` for a variable without a value.
  public func substituted(in predicate: FetchPredicate) throws -> FetchPredicate {
    do {
      return try predicate.substituting(values)
    } catch {
      guard values[error.variable] == nil else { throw CommandError(.usage, "\(error)") }
      throw CommandError(
        .usage, "$\(error.variable) has no value; add --variable \(error.variable)=VALUE")
    }
  }

  /// - Throws: `CommandError` for a value whose variable nobody uses.
  public func requireUse(in names: Set<String>) throws {
    guard let unused = values.keys.sorted().first(where: { !names.contains($0) }) else { return }
    let used = names.sorted().map { "$" + $0 }
    throw CommandError(
      .usage,
      "nothing asks for $\(unused); "
        + (used.isEmpty ? "leave it out" : "the variables are " + used.joined(separator: ", ")))
  }
}

extension FetchExpression {
  fileprivate var isConstant: Bool {
    switch self {
    case .value, .object: true
    case .list(let parts): parts.allSatisfy(\.isConstant)
    case .negative(let part): part.isConstant
    case .path, .itself, .variable, .collection, .aggregate, .arithmetic: false
    }
  }
}
