import CMooringXXHash
import StrictYAML

/// The checksums that identify a file independently of its comments, spacing, quotes and key order.
enum MigrationChecksum {
  static func of(_ node: YAMLNode) -> String { of(node.canonical) }

  /// Returns one hash for each step, which covers the step and all steps before it.
  static func cumulative(_ steps: [YAMLNode]) -> [String] {
    var text = ""
    return steps.map { step in
      text = of(text + step.canonical)
      return text
    }
  }

  private static func of(_ text: String) -> String {
    var text = text
    let hash = text.withUTF8 { mooring_xxh3_128($0.baseAddress, $0.count) }
    let hex = [hash.high, hash.low].map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return "c1:" + hex.joined()
  }
}
