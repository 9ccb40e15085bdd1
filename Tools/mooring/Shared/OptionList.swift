import Console
import EntityModel
import Foundation

/// Options that hold several parts: `updatedAt:desc,title:localized(zh)`.
enum OptionList {
  /// Splits at commas outside of brackets and quotes.
  ///
  /// - Returns: The parts without white space around them; none without a text.
  /// - Throws: `CommandError` for a part that is empty.
  static func parts(of text: String?, _ option: String) throws -> [String] {
    guard let text else { return [] }
    var parts = [""]
    var depth = 0
    var quote: Character?
    var isEscaped = false
    for character in text {
      if quote != nil {
        if !isEscaped, character == quote { quote = nil }
        isEscaped = !isEscaped && character == "\\"
      } else {
        switch character {
        case "\"", "'": quote = character
        case "(", "{", "[": depth += 1
        case ")", "}", "]": depth -= 1
        case "," where depth <= 0:
          parts.append("")
          continue
        default: break
        }
      }
      parts[parts.count - 1].append(character)
    }
    let trimmed = parts.map(\.trimmed)
    guard trimmed.allSatisfy({ !$0.isEmpty }) else {
      throw CommandError(.usage, "\(option): a part of \"\(text)\" is empty; take a comma away")
    }
    return trimmed
  }
}

extension SortKey {
  /// Reads `path[:asc|desc][:collation]`, the words in any order.
  ///
  /// - Throws: `CommandError`.
  init(word text: String) throws {
    let words = text.split(separator: ":", omittingEmptySubsequences: false)
      .map { String($0).trimmed }
    var direction: String?
    var collation: Collation?
    for word in words.dropFirst() {
      if ["asc", "desc"].contains(word), direction == nil {
        direction = word
      } else if let found = Collation(text: word), collation == nil {
        collation = found
      } else {
        throw CommandError(
          .usage,
          "--sort: \"\(word)\" in \"\(text)\" is no order; write asc or desc, and binary, "
            + "caseInsensitive, localized or localized(zh)")
      }
    }
    guard let path = words.first, !path.isEmpty else {
      throw CommandError(.usage, "--sort: \"\(text)\" has no path; write path:desc")
    }
    self.init(path, descending: direction == "desc", collation: collation ?? .binary)
  }
}

extension FetchProperty {
  /// The record's number, which commands call so.
  static let number = FetchProperty("_id", .itself)

  /// Reads `path`, `expression` or `name=expression`.
  ///
  /// - Throws: `CommandError`, `PlacedError`.
  init(selection text: String) throws {
    let (name, expression) = try FetchProperty.named(text, "--select")
    if expression == FetchProperty.number.name {
      self.init(name ?? expression, .itself)
    } else {
      self.init(name ?? expression, try FetchProperty.expression(expression, "--select"))
    }
  }

  /// Reads `function:path` or `name=function:path`.
  ///
  /// - Throws: `CommandError`, `PlacedError`.
  init(aggregate text: String) throws {
    let (name, aggregate) = try FetchProperty.named(text, "--aggregate")
    let parts = aggregate.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
    guard parts.count == 2 else {
      throw CommandError(
        .usage,
        "--aggregate: \"\(text)\" is no aggregate; write name=function:path, as in "
          + "total=sum:duration or n=count:*")
    }
    guard let function = AggregateFunction(rawValue: parts[0]) else {
      let names = AggregateFunction.allCases.map(\.rawValue).joined(separator: ", ")
      throw CommandError(.usage, "--aggregate: there is no function \"\(parts[0])\"; use \(names)")
    }
    guard parts[1] != "*" || function == .count else {
      throw CommandError(.usage, "--aggregate: only count takes *; name a path for \(parts[0])")
    }
    let argument =
      parts[1] == "*" ? nil : try FetchProperty.expression(parts[1], "--aggregate")
    let expression = FetchExpression.aggregate(function, argument)
    self.init(name ?? expression.description, expression)
  }

  private static func named(
    _ text: String, _ option: String
  ) throws -> (name: String?, rest: String) {
    let prefix = text.prefix { !"=\"'({".contains($0) }
    guard text.dropFirst(prefix.count).first == "=" else { return (nil, text) }
    let name = String(prefix).trimmed
    guard !name.isEmpty else {
      throw CommandError(.usage, "\(option): \"\(text)\" has no name before =; write name=…")
    }
    return (name, String(text.dropFirst(prefix.count + 1)).trimmed)
  }

  private static func expression(_ text: String, _ option: String) throws -> FetchExpression {
    do {
      return try FetchExpression(format: text, arguments: [])
    } catch {
      throw PlacedError(option, error)
    }
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
