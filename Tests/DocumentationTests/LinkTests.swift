import Foundation
import Testing

/// The links of the pages resolve, and the README stays short.
@Suite struct LinkTests {
  @Test(arguments: DocumentationPage.all)
  func everyLinkToAFileResolves(_ page: DocumentationPage) {
    let folder = DocumentationPage.root.appending(path: page.path).deletingLastPathComponent()
    for match in page.prose.matches(of: /\]\(([^)\s]+)\)/) {
      let target = String(match.output.1)
      if target.contains("://") || target.hasPrefix("mailto:") { continue }
      let parts = target.split(separator: "#", omittingEmptySubsequences: false)
      let file = parts[0].isEmpty ? page.path : String(parts[0])
      let path =
        parts[0].isEmpty
        ? DocumentationPage.root.appending(path: file).path : folder.appending(path: file).path
      #expect(FileManager.default.fileExists(atPath: path), "\(page.path): \(target)")
      guard parts.count > 1, let data = FileManager.default.contents(atPath: path) else { continue }
      let headings = String(decoding: data, as: UTF8.self).matches(of: /(?m)^#+ (.+)$/)
        .map { anchor(of: String($0.output.1)) }
      #expect(headings.contains(String(parts[1])), "\(page.path): \(target)")
    }
  }

  private func anchor(of heading: String) -> String {
    String(
      heading.lowercased().replacing(" ", with: "-").filter {
        $0.isLetter || $0.isNumber || $0 == "-"
      })
  }

  @Test(arguments: DocumentationPage.all)
  func everyLinkToAPageResolves(_ page: DocumentationPage) {
    for match in page.prose.matches(of: /<doc:([A-Za-z]+)>/) {
      let path = "\(DocumentationPage.catalog)/\(match.output.1).md"
      #expect(
        FileManager.default.fileExists(atPath: DocumentationPage.root.appending(path: path).path),
        "\(page.path): \(match.output.0)")
    }
  }

  @Test func theLandingPageNamesEveryPage() {
    let landing = DocumentationPage.named("Mooring").text
    for page in DocumentationPage.all
    where page.path.hasPrefix(DocumentationPage.catalog) && page.name != "Mooring" {
      #expect(landing.contains("<doc:\(page.name)>"), "the landing page lacks \(page.name)")
    }
  }

  @Test func theReadmeIsShort() throws {
    let readme = try #require(DocumentationPage.all.first { $0.path == "README.md" })
    #expect(readme.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 221)
  }

  /// Each row of "Where to find it" ends in a module and files of it.
  @Test func thePlacesOfTheArchitectureExist() throws {
    let page = DocumentationPage.named("Architecture").text
    let section = try #require(page.components(separatedBy: "## Where to find it").last)
    let rows = section.split(separator: "\n").filter {
      $0.hasPrefix("| ") && $0.contains(".swift`")
    }
    #expect(rows.count > 25)
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let module = cells[1].replacing("`", with: "")
      let files = cells[2].matches(of: /`([^`]+\.swift)`/).map { String($0.output.1) }
      let root = module.hasPrefix("Tools/") ? module : "Sources/\(module)"
      // A module that has not been split off yet has its files elsewhere.
      let sources = SourceFiles.paths.filter { $0.hasPrefix(root + "/") && $0.hasSuffix(".swift") }
      for file in files where !sources.isEmpty {
        #expect(
          sources.contains { $0.hasSuffix("/" + file) }, "\(module) has no \(file): \(row)")
      }
    }
  }

  /// `Suite/test` on the page of the guarantees is a test in a file that has the suite.
  @Test func theTestsOfTheGuaranteesExist() throws {
    let page = DocumentationPage.named("Guarantees").text
    let named = page.matches(of: /`([A-Z]\w+)\/([a-z]\w+)`/)
      .map { (suite: $0.output.1, test: $0.output.2) }
    #expect(named.count > 60)
    let folder = DocumentationPage.root.appending(path: "Tests").path
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix("Tests.swift") }
      .map { try String(contentsOf: URL(filePath: "\(folder)/\($0)"), encoding: .utf8) }
    for (suite, test) in named {
      let isThere = files.contains {
        $0.contains("struct \(suite) ") && $0.contains("func \(test)(")
      }
      #expect(isThere, "there is no test \(suite)/\(test)")
    }
    for row in page.split(separator: "\n") where row.hasPrefix("| ") && !row.contains("| tests |") {
      #expect(row.contains(/`[A-Z]\w+\/[a-z]\w+`/), "no test for: \(row)")
    }
  }
}
