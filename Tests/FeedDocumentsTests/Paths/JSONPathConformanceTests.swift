import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

/// The conformance suite of the JSONPath working group.
@Suite struct JSONPathConformanceTests {
  private static let suite = FeedCorpora.folder?.appending(path: "jsonpath-cts/cts.json")

  @Test(.enabled(if: suite != nil, "needs ../shared/corpora beside the package"))
  func everyCaseOfTheSuitePasses() throws {
    let text = try String(contentsOf: try #require(Self.suite), encoding: .utf8)
    let failures = try withJSON(text) { root in
      let cases = try #require(root["tests"])
      #expect(cases.count > 300)
      return cases.elements.compactMap { example in
        problem(with: example).map { "\(example["name"]?.text ?? "?"): \($0)" }
      }
    }
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  /// Returns the mistake in the outcome; nil if there is none.
  private func problem(with example: JSONValue) -> String? {
    let selector = example["selector"]?.text ?? ""
    do {
      let path = try JSONPath(selector)
      if example["invalid_selector"]?.bool == true { return "\(selector) is not refused" }
      guard let document = example["document"] else { return "no document" }
      let outcome = try outcome(
        of: path, in: document.kind == .string ? "\"\(document.text)\"" : document.text)
      let results = alternatives(example["result"], example["results"])
      let paths = alternatives(example["result_paths"], example["results_paths"])
      guard results.contains(outcome.nodes) else { return "\(selector) gives \(outcome.nodes)" }
      return paths.contains(outcome.paths) ? nil : "\(selector) is at \(outcome.paths)"
    } catch let error as JSONPathError {
      return example["invalid_selector"]?.bool == true ? nil : "\(selector): \(error)"
    } catch {
      return "\(selector): \(error)"
    }
  }

  private func outcome(
    of path: JSONPath, in document: String
  ) throws -> (nodes: [String], paths: [String]) {
    try withJSON(document) { root in
      var nodes: [String] = []
      var paths: [String] = []
      try path.forEach(in: root) { node, location in
        nodes.append(canonical(node))
        paths.append(location.normalizedPath.debugDescription)
        return true
      }
      return (nodes, paths)
    }
  }

  /// The lists of values that are right: one, or where the order is free several.
  private func alternatives(_ one: JSONValue?, _ several: JSONValue?) -> [[String]] {
    let lists = one.map { [$0] } ?? several.map { Array($0.elements) } ?? []
    return lists.map { $0.elements.map(canonical) }
  }
}
