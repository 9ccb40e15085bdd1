import EntityModel
import Foundation

/// The result of reading a source.
enum FoundValue {
  case nothing
  case value(Value)
  /// A value that cannot be converted to the type: the reason, and the value as written, shortened.
  case unfit(String, written: String)
}

extension ValueSource {
  /// Reads the value of a node. Null counts as absent.
  ///
  /// - Parameter values: Returns the value for a name in a template.
  /// - Throws: `.tooLarge`.
  func read(
    _ node: JSONValue, _ values: (String) -> String? = { _ in nil }
  ) throws(DocumentError) -> FoundValue {
    switch place {
    case .constant(let value): return .value(value)
    case .pointers(let pointers):
      return firstFit(pointers.lazy.compactMap { $0.value(in: node) })
    case .nodes(let paths): return try firstFit(paths, in: node)
    case .count(let path):
      return converted(.int64(Int64(try path.selection(in: node).count)))
    case .template(let template):
      return template.expand(values).map { converted(.string($0)) } ?? .nothing
    }
  }

  private func firstFit(
    _ paths: [JSONPath], in node: JSONValue
  ) throws(DocumentError) -> FoundValue {
    var result = FoundValue.nothing
    for path in paths {
      let nodes = try path.selection(in: node)
      let found = isList ? list(nodes) : firstFit(nodes)
      switch (found, result) {
      case (.value, _): return found
      case (.unfit, .nothing): result = found
      default: break
      }
    }
    return result
  }

  /// Reads a revision, an integer from 0; nil if there is none. Counts any other value.
  func revision(
    of node: JSONValue, _ drift: inout FormatDrift
  ) throws(DocumentError) -> Int64? {
    switch try read(node) {
    case .value(.int64(let revision)) where revision >= 0: return revision
    case .nothing: return nil
    case .value, .unfit:
      drift.dropRevision()
      return nil
    }
  }

  /// Reads a date; nil if there is none. Counts a value that is no date.
  func date(
    of node: JSONValue, named name: String, _ drift: inout FormatDrift
  ) throws(DocumentError) -> Date? {
    switch try read(node) {
    case .value(.date(let date)): return date
    case .unfit(_, let written): drift.addUnreadableDate(written, name)
    case .nothing, .value: break
    }
    return nil
  }

  private var isList: Bool {
    type == .strings || type == .string && conversion.separator != nil
  }

  private func firstFit(_ nodes: some Sequence<JSONValue>) -> FoundValue {
    var result = FoundValue.nothing
    for node in nodes where !node.isNull {
      let found: FoundValue =
        if let value = value(of: node) { converted(value) } else { unfit(node) }
      switch (found, result) {
      case (.value, _): return found
      case (.unfit, .nothing): result = found
      default: break
      }
    }
    return result
  }

  private func list(_ nodes: [JSONValue]) -> FoundValue {
    var texts: [String] = []
    texts.reserveCapacity(nodes.count)
    for node in nodes where !node.isNull {
      if node.kind == .object || node.kind == .array { return unfit(node) }
      texts.append(node.text)
    }
    return texts.isEmpty ? .nothing : converted(.strings(texts))
  }

  private func converted(_ value: Value) -> FoundValue {
    var value = value
    if type == .date, case .string(let text) = value, text.trimmed.isEmpty { return .nothing }
    let written = { [value] in value.text.excerpt() }
    if let duration, case .string(let text) = value {
      guard let seconds = duration.seconds(text) else {
        return .unfit(written(), written: written())
      }
      value = Int64(exactly: seconds).map(Value.int64) ?? .double(seconds)
    }
    if let date = date(of: value) { value = .date(date) }
    do throws(ConversionFailure) {
      let converted = try conversion.value(from: value, to: type)
      return converted.isNull ? .nothing : .value(converted)
    } catch {
      return .unfit(error.description, written: written())
    }
  }

  /// Returns a date in one of the forms of feeds, unless the mapping says how dates are written.
  private func date(of value: Value) -> Date? {
    guard type == .date, conversion.date == nil, conversion.cases.isEmpty,
      case .string(let text) = value, !conversion.nullValues.contains(text.trimmed)
    else { return nil }
    return FeedDate.date(text)
  }

  /// Returns the value before the conversion; nil for an object or a mixed array.
  private func value(of node: JSONValue) -> Value? {
    if node.kind == .unrepresentable { return .string(node.text) }
    // As text a number keeps its digits as they are written, which a double does not.
    if type == .string || type == .decimal, node.kind == .double { return .string(node.text) }
    return ScalarValue(node).unconverted
  }

  private func unfit(_ node: JSONValue) -> FoundValue {
    let text = String(decoding: node.textBytes.prefix(240), as: UTF8.self).excerpt()
    return .unfit(text, written: text)
  }
}

extension JSONPath {
  /// Returns the selected nodes.
  ///
  /// - Throws: `.tooLarge` for the errors of `nodes(in:)`.
  func selection(in root: JSONValue) throws(DocumentError) -> [JSONValue] {
    do throws(JSONPathError) {
      return try nodes(in: root)
    } catch {
      throw DocumentError(.tooLarge, detail: error.description)
    }
  }
}
