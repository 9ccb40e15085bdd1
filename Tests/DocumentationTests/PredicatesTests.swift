import Foundation
import Mooring
import Testing

/// The examples of the page "Predicates" are predicates.
@Suite struct PredicatesTests {
  @Test func everyFormatStringOfTheTableCanBeRead() throws {
    let page = DocumentationPage.named("Predicates").text
    let formats = page.split(separator: "\n").filter { $0.hasPrefix("| ") }
      .compactMap { $0.split(separator: "|").dropFirst().first }
      .flatMap { cell in cell.matches(of: /`([^`]+)`/).map { String($0.output.1) } }
      .filter {
        $0.contains(
          #/\s(==|!=|<|>|IN|CONTAINS|BEGINSWITH|LIKE|MATCHES|SATISFIES)(\[[a-z]+\])?\s/#)
      }
    #expect(formats.count > 20, "\(formats)")
    for format in formats {
      let predicate = try FetchPredicate(format: format)
      #expect(try FetchPredicate(format: predicate.description) == predicate, "\(format)")
    }
  }
}
