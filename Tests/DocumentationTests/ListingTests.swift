import FeedDocuments
import Foundation
import Mooring
import TestSupport
import Testing
import WorkerService

/// Listings of the pages: Swift is compiled, YAML is read by the parser that the program uses.
@Suite struct ListingTests {
  // MARK: Swift

  @Test(arguments: DocumentationPage.all)
  func everySwiftListingIsCompiled(_ page: DocumentationPage) throws {
    let sample = try String(
      contentsOf: DocumentationPage.root.appending(path: "Tools/free-episodes/FreeEpisodes.swift"),
      encoding: .utf8)
    // The imports of a listing are an embedder's, those of the code its file's.
    func withoutImports(_ code: String) -> String {
      code.split(separator: "\n", omittingEmptySubsequences: false)
        .filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
        .trimmingCharacters(in: .newlines)
    }
    // The code of other frameworks stands beside ours, to be compared.
    let others = ["Core Data:", "SwiftData:", "GRDB:"]
    for listing in page.listings("swift") where !others.contains(listing.introduction) {
      let code = withoutImports(listing.text)
      #expect(
        CompiledListings.all.contains(code) || code == withoutImports(sample),
        "\(page.path):\(listing.line) is not between `// listing` and `// end` in this target")
    }
  }

  // MARK: YAML

  @Test(arguments: DocumentationPage.all)
  func everyYAMLListingIsRead(_ page: DocumentationPage) throws {
    for listing in page.listings("yaml") {
      do {
        try read(listing.text, on: page)
      } catch {
        Issue.record("\(page.path):\(listing.line): \(error)")
      }
    }
  }

  private func read(_ text: String, on page: DocumentationPage) throws {
    if page.name == "FeedMappingReference" || text.hasPrefix("mapping: ") {
      if !text.hasPrefix("line: ") { return try readMapping(text) }
    }
    // Both have tests of their own: the pages on imports, and the seed of "Writing and observing".
    if page.name.hasPrefix("Import") || text.hasPrefix("Dog:") { return }
    if page.name == "RunningTheWorker" { return try readSettings(text) }
    let isFile = text.hasPrefix("line: ")
    let file = isFile ? text : "line: local\nsummary: steps\nsteps:\n\(text)"
    let source = MigrationSource(embedded: [("0001_example", Array(file.utf8))])
    let lines = try MigrationLine.load([source])
    #expect(lines.first?.migrations.first?.steps.isEmpty == false)
  }

  /// Parses a mapping, or some of its keys: the other required keys are added.
  private func readMapping(_ text: String) throws {
    let keys = Set(
      text.split(separator: "\n").filter { $0.first?.isLetter == true }
        .compactMap { $0.split(separator: ":").first })
    var file = text
    if !keys.contains("mapping") { file = "mapping: example\n" + file }
    if !keys.contains("groups") {
      if !keys.contains("items") { file += "\nitems: $.items[*]" }
      if keys.isDisjoint(with: ["id", "identity"]) { file += "\nid: /id" }
    }
    try FeedMappingText(file, file: "listing").check(
      schema: try Self.schema.get(), entity: "Episode")
  }

  /// The schema of the home feed, with the episode attributes of the mapping reference.
  private static let schema = Result {
    let reference = DocumentationPage.named("FeedMappingReference").listings("yaml")
    let line = try #require(reference.first { $0.text.hasPrefix("line: ") })
    let source = MigrationSource(embedded: [("0001_talks", Array(line.text.utf8))])
    return try withTemporaryFolder { folder in
      try openStore(at: folder.path("store"), migrations: [.homeFeed, source]).schema
    }
  }

  private func readSettings(_ text: String) throws {
    try withTemporaryFolder { folder in
      let path = folder.path("worker.yaml")
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      _ = try WorkerSettings.load(environment: [:], file: path)
    }
  }

  /// Finds keys that the parsers accept and the reference does not describe.
  @Test func theReferencesNameEveryKey() throws {
    for (files, page) in [
      ("FeedMappingReader", "FeedMappingReference"), ("ConversionFile", "FeedMappingReference"),
      ("ConversionFile", "MigrationFileReference"), ("MigrationFile", "MigrationFileReference"),
      ("AttributeFile", "MigrationFileReference"), ("AttributeStepFile", "MigrationFileReference"),
      ("EntityFile", "MigrationFileReference"), ("IndexFile", "MigrationFileReference"),
      ("HistoryFile", "MigrationFileReference"), ("RowStepFile", "MigrationFileReference"),
      ("RelationshipFile", "MigrationFileReference"), ("TemplateFile", "MigrationFileReference"),
    ] {
      let text = DocumentationPage.named(page).text
      let keys = try SourceFiles.all(beginning: files).flatMap { source in
        source.matches(of: /(?:required|optional|bound)\("([A-Za-z]+)"/).map { String($0.output.1) }
      }
      #expect(!keys.isEmpty, "\(files)")
      for key in Set(keys) {
        #expect(
          ["`\(key)`", "### \(key)\n", " \(key): "].contains(where: text.contains),
          "\(page) lacks \(key)")
      }
    }
    let prose = DocumentationPage.named("MigrationFileReference").prose
    for verb in MigrationVerb.allCases {
      #expect(prose.contains("### \(verb.rawValue)\n"), "there is no section on \(verb.rawValue)")
    }
  }

  /// The files of one line apply one after the other, and fit the home feed.
  @Test func theMigrationsOfTheReferenceFollowEachOther() throws {
    let files = DocumentationPage.named("MigrationFileReference").listings("yaml").map(\.text)
      .filter { $0.hasPrefix("line: local") }
    let source = MigrationSource(
      embedded: files.enumerated().map { ("000\($0 + 1)_example", Array($1.utf8)) })
    let plan = try MigrationPlan.ofNewStore([.homeFeed, source])
    #expect(Set(plan.steps.map(\.migration)).isSuperset(of: ["0001_example", "0002_example"]))
  }

  /// The first migration of the reference has the described effect.
  @Test func theFirstMigrationOfTheReferenceWorks() async throws {
    let yaml = try #require(
      DocumentationPage.named("MigrationFileReference").listings("yaml").first)
    let example = MigrationSource(embedded: [("0001_notes", Array(yaml.text.utf8))])
    try await withTemporaryStore(migrations: [.homeFeed, example]) { temporary in
      try await temporary.store.write { transaction in
        try transaction.insert("Bookmark", ["slug": "a-b", "createdAt": .date(transaction.now)])
      }
      let bookmark = try temporary.store.read { try $0.get("Bookmark", by: ["slug": "a-b"]) }
      #expect(try bookmark?["tags"] == .strings([]))
    }
  }
}

/// Files of the project's sources.
enum SourceFiles {
  /// Below `Sources` and `Tools`, without what was built.
  static let paths: [String] = {
    var paths: [String] = []
    for folder in ["Sources", "Tools"] {
      let files = FileManager.default.enumerator(
        atPath: DocumentationPage.root.appending(path: folder).path)
      while let file = files?.nextObject() as? String {
        if file.hasSuffix("/.build") { files?.skipDescendants() }
        paths.append("\(folder)/\(file)")
      }
    }
    return paths
  }()

  static func all(beginning name: String) throws -> [String] {
    try paths.filter {
      let file = URL(filePath: $0).lastPathComponent
      return file == "\(name).swift" || file.hasPrefix("\(name)+") && file.hasSuffix(".swift")
    }.map {
      try String(contentsOf: DocumentationPage.root.appending(path: $0), encoding: .utf8)
    }
  }
}
