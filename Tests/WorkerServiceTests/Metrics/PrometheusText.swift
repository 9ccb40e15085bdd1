import Foundation

/// A strict reader of Prometheus's text format 0.0.4: what a scraper might excuse, it does not.
struct PrometheusText {
  struct Mistake: Error { let line: String }

  struct Sample: Equatable {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  struct Family {
    let name: String
    let type: String
    let help: String
    var samples: [Sample] = []
  }

  private(set) var families: [Family] = []

  init(_ text: String) throws {
    guard text.hasSuffix("\n") else { throw Mistake(line: "the last line has no end") }
    var help: (name: String, text: String)?
    for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
      var reader = Reader(line)
      if reader.take("# HELP ") {
        let name = try reader.name()
        try reader.require(" ")
        help = (name, reader.rest)
      } else if reader.take("# TYPE ") {
        let name = try reader.name()
        try reader.require(" ")
        guard help?.name == name, !families.contains(where: { $0.name == name }),
          ["counter", "gauge", "summary", "histogram"].contains(reader.rest)
        else { throw Mistake(line: "\(line)") }
        families.append(Family(name: name, type: reader.rest, help: help?.text ?? ""))
        help = nil
      } else {
        guard help == nil, var family = families.popLast() else { throw Mistake(line: "\(line)") }
        family.samples.append(try reader.sample(of: family))
        families.append(family)
      }
    }
    guard help == nil else { throw Mistake(line: "HELP without TYPE") }
    for family in families { try Self.check(family) }
  }

  subscript(name: String) -> Family? { families.first { $0.name == name } }

  /// The value of the one sample of a name with these labels.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    let found = families.flatMap(\.samples).filter { $0.name == name && $0.labels == labels }
    return found.count == 1 ? found[0].value : nil
  }

  private static func check(_ family: Family) throws {
    guard !family.samples.isEmpty else { throw Mistake(line: "\(family.name) is empty") }
    for (index, sample) in family.samples.enumerated() {
      let isTwice = family.samples[..<index].contains {
        $0.name == sample.name && $0.labels == sample.labels
      }
      guard !isTwice else { throw Mistake(line: "\(sample) twice") }
    }
    guard family.type == "histogram" else { return }
    // The buckets of a series follow each other, and the last holds all.
    let counts = family.samples.filter { $0.name == family.name + "_count" }
    for count in counts {
      let buckets = family.samples.filter {
        $0.name == family.name + "_bucket" && $0.labels.filter { $0.key != "le" } == count.labels
      }
      let bounds = buckets.compactMap { Double($0.labels["le"] ?? "") }
      guard bounds.count == buckets.count, bounds == bounds.sorted(), bounds.last == .infinity,
        buckets.map(\.value) == buckets.map(\.value).sorted(), buckets.last?.value == count.value
      else { throw Mistake(line: "the buckets of \(count)") }
    }
  }

  private struct Reader {
    private let line: Substring
    private var left: Substring

    init(_ line: Substring) { (self.line, left) = (line, line) }

    var rest: String { String(left) }

    mutating func take(_ text: String) -> Bool {
      guard left.hasPrefix(text) else { return false }
      left.removeFirst(text.count)
      return true
    }

    mutating func require(_ text: String) throws {
      guard take(text) else { throw Mistake(line: "\(line)") }
    }

    mutating func name(colon: Bool = true) throws -> String {
      let name = left.prefix { letter in
        letter.isASCII && (letter.isLetter || letter.isNumber || letter == "_")
          || colon && letter == ":"
      }
      guard let first = name.first, !first.isNumber else { throw Mistake(line: "\(line)") }
      left = left[name.endIndex...]
      return String(name)
    }

    mutating func sample(of family: Family) throws -> Sample {
      let name = try name()
      let suffixes: Set<String> =
        switch family.type {
        case "histogram": ["_bucket", "_sum", "_count"]
        case "summary": ["_sum", "_count"]
        default: [""]
        }
      guard name.hasPrefix(family.name),
        suffixes.contains(String(name.dropFirst(family.name.count)))
      else { throw Mistake(line: "\(line)") }
      var labels: [String: String] = [:]
      if take("{") {
        repeat {
          let label = try self.name(colon: false)
          guard !label.hasPrefix("__"), labels[label] == nil else { throw Mistake(line: "\(line)") }
          try require("=\"")
          labels[label] = try quoted()
        } while take(",")
        try require("}")
      }
      try require(" ")
      guard let value = Double(left.replacing("+Inf", with: "inf")), !left.contains(" ") else {
        throw Mistake(line: "\(line)")
      }
      return Sample(name: name, labels: labels, value: value)
    }

    /// To the quote that ends it, which is taken.
    private mutating func quoted() throws -> String {
      var text = String.UnicodeScalarView()
      var scalars = left.unicodeScalars[...]
      while let scalar = scalars.popFirst() {
        if scalar == "\"" {
          left = Substring(scalars)
          return String(text)
        }
        guard scalar == "\\" else {
          text.append(scalar)
          continue
        }
        switch scalars.popFirst() {
        case "n": text.append("\n")
        case "\\": text.append("\\")
        case "\"": text.append("\"")
        default: throw Mistake(line: "\(line)")
        }
      }
      throw Mistake(line: "\(line)")
    }
  }
}
