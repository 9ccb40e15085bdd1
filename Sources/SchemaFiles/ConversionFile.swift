package import EntityModel
import Foundation
package import StrictYAML
import TextFormats

/// Reads a conversion from a file: `{ date: unixMilliseconds, nullValues: [0] }`. The keys are
/// documented in MigrationFileReference.md.
package struct ConversionFile {
  private let type: AttributeType

  /// Reads a conversion.
  ///
  /// - Parameter node: A mapping. Unknown keys are errors, and so are keys that never apply to the
  ///   type. Conditions on the kind of the converted values are not checked here.
  /// - Parameter type: The type that the values are converted to.
  /// - Throws: `YAMLError` at the place.
  package static func conversion(_ node: YAMLNode, to type: AttributeType) throws -> Conversion {
    var mapping = try node.mapping()
    let conversion = try ConversionFile(type: type).conversion(&mapping)
    try mapping.finish()
    return conversion
  }

  /// Reads a conversion from a mapping that has other keys, too. Takes its own keys, and leaves the
  /// others to the caller.
  ///
  /// - Throws: The errors of ``conversion(_:to:)``, except those for unknown keys.
  package static func conversion(
    in mapping: inout YAMLMapping, to type: AttributeType
  ) throws -> Conversion {
    try ConversionFile(type: type).conversion(&mapping)
  }

  /// Reads a value of an attribute: for an enumeration the name of a case, for a date
  /// `2026-11-20T10:00:00Z`.
  ///
  /// - Throws: `YAMLError` at the place if the value is not of the type.
  package static func value(_ node: YAMLNode, of type: AttributeType) throws -> Value {
    try ConversionFile(type: type).literal(node)
  }

  private func conversion(_ mapping: inout YAMLMapping) throws -> Conversion {
    if case .reference = type {
      throw mapping.error("nothing is converted to a reference; use createRelationship")
    }
    var conversion = Conversion()
    conversion.encoding = try mapping.optional("encoding").map { try $0.choice(named: "encoding") }
    conversion.trims = try mapping.optional("trim")?.bool() ?? false
    conversion.normalizes = try mapping.optional("normalize")?.bool() ?? false
    conversion.lowercases = try mapping.optional("lowercase")?.bool() ?? false
    conversion.emptyIsNull = try mapping.optional("emptyIsNull")?.bool() ?? false
    if let node = mapping.optional("nullValues") { conversion.nullValues = try words(node) }
    let cases = mapping.optional("cases")
    if let cases { conversion.cases = try self.cases(cases) }
    try readDates(&mapping, into: &conversion)
    try readNumbers(&mapping, into: &conversion)
    if let node = mapping.optional("separator") { conversion.separator = try separator(node) }
    if let node = mapping.optional("orElse") {
      let value = try literal(node)
      conversion.orElse = value.isNull ? .null : .value(value)
    }
    if let cases, conversion.convertsBesidesCases {
      throw cases.error(
        "with cases nothing else is converted; remove date, zone, scale, round, atLeast, atMost "
          + "and separator, or the cases")
    }
    return conversion
  }

  // MARK: Dates

  private func readDates(_ mapping: inout YAMLMapping, into conversion: inout Conversion) throws {
    if let node = mapping.optional("date") {
      let form: Conversion.DateForm = try node.choice(named: "form of dates")
      let isFitting =
        switch type {
        case .date, .string: true
        case .int64, .double, .decimal: !form.isText
        default: false
        }
      guard isFitting else {
        throw node.error(
          form.isText
            ? "\(form.rawValue) is text; the type must be date or string, and is \(type.name)"
            : "dates become numbers or text, and are made of them; the type is \(type.name)")
      }
      conversion.date = form
    }
    if let node = mapping.optional("zone") {
      guard conversion.date?.mayLackZone == true else {
        throw node.error("a zone is for texts that may lack it; use date: iso8601 or rfc822")
      }
      guard let minutes = DateText.zoneMinutes(try node.string()) else {
        throw node.error("write a zone as Z or as an offset, for example \"+08:00\"")
      }
      conversion.zoneMinutes = minutes
    }
  }

  // MARK: Numbers

  private func readNumbers(_ mapping: inout YAMLMapping, into conversion: inout Conversion) throws {
    if let node = mapping.optional("scale") {
      guard [.int64, .double, .decimal].contains(type), conversion.date == nil else {
        throw node.error(
          conversion.date == nil
            ? "a scale is for int64, double and decimal; the type is \(type.name)"
            : "the form of a date has its unit; use another form, or no scale")
      }
      guard
        case .decimal(let scale)? = Value(text: try node.string(), as: .decimal, now: .distantPast),
        scale != 0
      else { throw node.error("a scale is a decimal number other than 0, for example 0.001") }
      conversion.scale = scale
    }
    if let node = mapping.optional("round") {
      let rounding: Conversion.Rounding = try node.choice(named: "rounding")
      let isOfDate = type == .string && conversion.date != nil
      guard type == .int64 || type == .double || isOfDate else {
        throw node.error(
          "what is rounded becomes int64, double or the text of a date; the type is \(type.name)")
      }
      if type != .int64, rounding != .halfEven {
        throw node.error("only for int64 there is another rounding than halfEven")
      }
      conversion.round = rounding
    }
    let least = mapping.optional("atLeast")
    conversion.atLeast = try least.map(bound) ?? .null
    let most = mapping.optional("atMost")
    conversion.atMost = try most.map(bound) ?? .null
    if let most, conversion.atMost.compared(with: conversion.atLeast) == .ascending {
      throw most.error("atMost is less than atLeast")
    }
  }

  private func bound(_ node: YAMLNode) throws -> Value {
    guard [.int64, .double, .decimal, .date].contains(type) else {
      throw node.error("bounds are for numbers and dates; the type is \(type.name)")
    }
    let value = try literal(node)
    if value.isNull { throw node.error("a bound is a value; leave the key out for none") }
    return value
  }

  // MARK: Words

  private func words(_ node: YAMLNode) throws -> Set<String> {
    let nodes = try node.sequence()
    if nodes.isEmpty { throw node.error("nullValues has at least one value; or leave it out") }
    return Set(
      try nodes.map { node in
        if node.isNull { throw node.error("null is null without being told; remove it") }
        return try Self.word(node)
      })
  }

  /// Returns the word that a ``Conversion`` compares. A plain number gives the same word however it
  /// is written.
  package static func word(_ node: YAMLNode) throws -> String {
    // A scalar that is neither kind of number is a text, so that no error is lost here.
    if let number = try? node.int() { return String(number) }
    if let number = try? node.double(), let word = Conversion.word(of: .double(number)) {
      return word
    }
    return try node.string()
  }

  private func cases(_ node: YAMLNode) throws -> [String: Value] {
    var mapping = try node.mapping()
    var cases: [String: Value] = [:]
    for (word, _) in mapping.keys { cases[word] = try literal(try mapping.required(word)) }
    if cases.isEmpty { throw node.error("cases has at least one word, with the value it becomes") }
    return cases
  }

  private func separator(_ node: YAMLNode) throws -> String {
    guard type == .strings || type == .string else {
      throw node.error("a separator is for strings, or for a string made of them")
    }
    let separator = try node.string()
    if separator.isEmpty { throw node.error("a separator has at least one character") }
    return separator
  }

  // MARK: Values of the type

  private func literal(_ node: YAMLNode) throws -> Value {
    if node.isNull { return .null }
    switch type {
    case .enumeration(let enumeration):
      let name = try node.string()
      if let found = enumeration.cases.first(where: { $0.name == name }) { return found.rawValue }
      let names = enumeration.cases.map(\.name)
      let known = "its cases are \(names.prefix(16).joined(separator: ", "))"
      throw node.error(
        "\"\(name)\" is no case of the enum; "
          + NearestName.advice(on: name, among: names, otherwise: known))
    case .date:
      guard let date = DateText.rfc3339(try node.string()) else {
        throw node.error("write a date as 2026-11-20T10:00:00Z")
      }
      return .date(date)
    default: return try node.value(type.kind, now: .distantPast)
    }
  }
}

extension Conversion {
  fileprivate var convertsBesidesCases: Bool {
    date != nil || zoneMinutes != nil || scale != nil || round != nil || !atLeast.isNull
      || !atMost.isNull || separator != nil
  }
}

extension YAMLNode {
  /// Reads one of several words.
  ///
  /// - Parameter what: The word for them in the error message "unknown `what`".
  package func choice<Choice: RawRepresentable<String> & CaseIterable>(
    named what: String
  ) throws -> Choice {
    let name = try string()
    if let choice = Choice(rawValue: name) { return choice }
    let names = Choice.allCases.map(\.rawValue)
    let known = "known are \(names.joined(separator: ", "))"
    throw error(
      "unknown \(what) \"\(name)\"; "
        + NearestName.advice(on: name, among: names, otherwise: known))
  }
}
