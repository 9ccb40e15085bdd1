public import EntityModel
public import EntityStore
import Foundation

/// A predicate as an option gives it: the text itself, `@FILE`, or `-` for standard input.
public struct PredicateText: Sendable {
  /// The bound of the predicate parser.
  private static let bytesMax = 1 << 20

  private let option: String
  private let text: String

  /// - Throws: `CommandError` for a file that cannot be read, is too long, or is no UTF-8.
  public init(option: String, argument: String) throws {
    self.option = option
    if argument == "-" {
      text = try Self.read(FileHandle.standardInput, "standard input", option)
    } else if argument.hasPrefix("@") {
      let path = String(argument.dropFirst())
      guard let file = FileHandle(forReadingAtPath: path) else {
        throw CommandError(.unavailable, "\(option): the file \"\(path)\" cannot be read")
      }
      text = try Self.read(file, "the file \"\(path)\"", option)
    } else {
      text = argument
    }
  }

  private static func read(
    _ file: FileHandle, _ name: String, _ option: String
  ) throws -> String {
    let bytes = try file.read(upToCount: bytesMax + 1) ?? Data()
    guard bytes.count <= bytesMax else {
      throw CommandError(.usage, "\(option): \(name) is longer than a predicate may be, 1 MiB")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.badData, "\(option): \(name) is no UTF-8 text")
    }
    return text
  }

  /// The predicate.
  ///
  /// - Throws: ``PlacedError``.
  public func predicate() throws -> FetchPredicate {
    do {
      return try FetchPredicate(format: text, arguments: [])
    } catch {
      throw PlacedError(option, error, message: adviceOnSpecifier(error))
    }
  }

  /// Returns advice if the mistake is a `%` specifier, which only programs can use.
  private func adviceOnSpecifier(_ error: PredicateFormatError) -> String? {
    guard error.format.utf8.dropFirst(error.offset).first == UInt8(ascii: "%") else { return nil }
    return "a command line has no arguments for %; write the value itself, or $NAME and "
      + "--variable NAME=VALUE"
  }

  /// Returns the store's error with its place in the text, if the name that it mentions occurs
  /// there exactly once, or else the error unchanged.
  public func placing(_ error: StoreError) -> any Error {
    let names = error.context.filter { Self.placeable.contains($0.0) }.map(\.1)
    let firstWords = names.compactMap { $0.split(separator: " ").first.map(String.init) }
    let plain = PlainText(text)
    for name in names + firstWords {
      guard let offset = plain.onlyOffset(of: name) else { continue }
      return PlacedError(
        option, PredicateFormatError(message: "\(error)", offset: offset, format: text))
    }
    return error
  }

  /// The context keys of a `StoreError` whose values are names in the predicate.
  private static let placeable = ["attribute", "path", "name", "predicate", "expression"]
}

/// A predicate's text, of which quoted parts are left out.
private struct PlainText {
  private let bytes: [UInt8]
  private let isQuoted: [Bool]

  init(_ text: String) {
    bytes = Array(text.utf8)
    var quote: UInt8?
    var isEscaped = false
    isQuoted = bytes.map { byte in
      let wasQuoted = quote != nil
      if isEscaped {
        isEscaped = false
      } else if wasQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if wasQuoted ? byte == quote : byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"")
      {
        quote = wasQuoted ? nil : byte
      }
      return wasQuoted
    }
  }

  /// Where a name stands as a whole word; `nil` if nowhere, or at several places.
  func onlyOffset(of name: String) -> Int? {
    let name = Array(name.utf8)
    guard let first = name.first, name.count <= bytes.count else { return nil }
    let places = (0...bytes.count - name.count).lazy.filter { place in
      bytes[place] == first && !isQuoted[place]
        && bytes[place..<place + name.count].elementsEqual(name)
        && !(place > 0 && isWord(bytes[place - 1]) && isWord(first))
        && !(isWord(name[name.count - 1]) && isWord(after: place + name.count))
    }
    let found = Array(places.prefix(2))
    return found.count == 1 ? found[0] : nil
  }

  private func isWord(after place: Int) -> Bool { place < bytes.count && isWord(bytes[place]) }

  private func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }
}
