extension FetchPredicate {
  /// Reads a predicate in Apple's format language: `%K != nil AND progress != 0`.
  ///
  /// - Parameter arguments: The values for `%@`, `%K` and the other specifiers, in their order.
  ///   `nil` is null.
  /// - Throws: `PredicateFormatError` for a mistake in the format or an argument, with its place
  ///   and the remedy. A format has at most 1 MiB, 100,000 parts and 200 levels; arguments do not
  ///   count.
  /// - Complexity: O(n) in the length of the format and the number of arguments.
  public init(
    format: String, _ arguments: (any PredicateArgument)?...
  ) throws(PredicateFormatError) {
    try self.init(format: format, arguments: arguments)
  }

  /// Reads a predicate, with its arguments in a list.
  public init(
    format: String, arguments: [(any PredicateArgument)?]
  ) throws(PredicateFormatError) {
    var parser = try FormatParser(format, FormatArguments(arguments))
    self = try parser.predicate(try parser.parse())
  }
}

extension FetchExpression {
  /// Reads a value in the same language: `duration * 2`, `sum(duration)`, `episodes.@count`.
  ///
  /// - Throws: The errors of `FetchPredicate.init(format:_:)`.
  public init(
    format: String, _ arguments: (any PredicateArgument)?...
  ) throws(PredicateFormatError) {
    try self.init(format: format, arguments: arguments)
  }

  /// Reads a value, with its arguments in a list.
  public init(
    format: String, arguments: [(any PredicateArgument)?]
  ) throws(PredicateFormatError) {
    var parser = try FormatParser(format, FormatArguments(arguments))
    self = try parser.expression(try parser.parse())
  }
}

/// Stores and sends a predicate as one string, its format. People can read it, and a reader need
/// not trust a tree that another program built.
extension FetchPredicate: Codable, FormattedTree {
  /// Writes `description`.
  ///
  /// - Throws: `EncodingError` if the text could not be read back.
  public func encode(to encoder: any Encoder) throws {
    try encodeFormat(of: self, to: encoder)
  }

  /// Reads the format.
  ///
  /// - Throws: `DecodingError` with the message of the `PredicateFormatError`.
  public init(from decoder: any Decoder) throws {
    self = try decodeFormat(from: decoder)
  }
}

/// Stores and sends an expression as one string, its format.
extension FetchExpression: Codable, FormattedTree {
  /// Writes `description`.
  ///
  /// - Throws: `EncodingError` if the text could not be read back.
  public func encode(to encoder: any Encoder) throws {
    try encodeFormat(of: self, to: encoder)
  }

  /// Reads the format.
  ///
  /// - Throws: `DecodingError` with the message of the `PredicateFormatError`.
  public init(from decoder: any Decoder) throws {
    self = try decodeFormat(from: decoder)
  }
}

/// A tree whose description is a format.
private protocol FormattedTree: CustomStringConvertible {
  init(format: String, arguments: [(any PredicateArgument)?]) throws(PredicateFormatError)
}

/// Encodes a tree as its format. A tree that is too large or contains NaN is refused here, because
/// it could not be decoded later.
private func encodeFormat<Tree: FormattedTree>(
  of tree: Tree, to encoder: any Encoder
) throws {
  let format = tree.description
  do {
    _ = try Tree(format: format, arguments: [])
  } catch {
    throw EncodingError.invalidValue(
      tree,
      .init(
        codingPath: encoder.codingPath, debugDescription: error.message, underlyingError: error))
  }
  var container = encoder.singleValueContainer()
  try container.encode(format)
}

private func decodeFormat<Tree: FormattedTree>(from decoder: any Decoder) throws -> Tree {
  let format = try decoder.singleValueContainer().decode(String.self)
  do {
    return try Tree(format: format, arguments: [])
  } catch {
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath, debugDescription: error.description, underlyingError: error)
    )
  }
}
