import EntityModel
import Foundation
import LegacyImport
import StrictYAML
import Testing

/// The documentation page "Import mapping reference" agrees with the parser.
@Suite struct MappingReferenceTests {
  private let page: ReferencePage
  private let schema: Schema

  init() throws {
    page = try ReferencePage()
    let migration = try #require(page.listings.first { $0.kind == "migration" })
    schema = try MappedSchema.schema(migration.text)
  }

  @Test func everyListingIsReadByTheParser() throws {
    #expect(page.listings.count > 40)
    for listing in page.listings where listing.kind != "migration" {
      let text = try #require(
        listing.mapping, "line \(listing.line): kind \(listing.kind ?? "none")")
      do {
        _ = try MappingFile.read(Array(text.utf8), file: "listing", schema: schema)
      } catch {
        Issue.record("the listing at line \(listing.line): \(error)\n\(text)")
      }
    }
  }

  @Test func everyKeyHasAnExample() {
    for key in page.keys {
      let listings = page.listings.filter { $0.section == key.section && $0.key == key.name }
      #expect(listings.contains { $0.text.contains("\(key.name):") }, "\(key)")
    }
  }

  /// Each place of a mapping that has keys: an unknown key there, and the sections of the page that
  /// describe the known ones.
  private static let places: [(mapping: String, sections: [String])] = [
    (
      """
      import: p
      dialect: plain
      entities: []
      qqqqqqqqqq: 1
      """, ["Keys of the file"]
    ),
    (
      """
      import: p
      dialect: plain
      entities: []
      skip: { qqqqqqqqqq: 1 }
      """, ["Keys of skip"]
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - { entity: Playlist, table: t, key: [id], qqqqqqqqqq: 1 }
      """, ["Keys of an entity"]
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - { entity: Playlist, table: t, key: [id], attributes: { name: { column: n, qqqqqqqqqq: 1 } } }
      """, ["Keys of an attribute", "Keys of a conversion"]
    ),
    (
      """
      import: p
      dialect: plain
      entities:
        - entity: Playlist
          table: t
          key: [id]
          relationships:
            episodes: { join: j, owner: a, target: b, table: e, qqqqqqqqqq: 1 }
      """, ["Keys of a relationship"]
    ),
  ]

  @Test(arguments: places)
  func thePageDescribesTheKeysThatTheParserAccepts(
    mapping: String, sections: [String]
  ) throws {
    let described = page.keys.filter { sections.contains($0.section) }.map(\.name)
    let accepted = try acceptedKeys(in: mapping)
    #expect(Set(described) == Set(accepted), "not described, or not accepted any more")
    #expect(described.count == Set(described).count)
  }

  /// Returns the keys that the parser names for an unknown one.
  private func acceptedKeys(in mapping: String) throws -> [String] {
    do {
      _ = try MappingFile.read(Array(mapping.utf8), file: "m", schema: schema)
    } catch let error as YAMLError {
      let keys = try #require(error.summary.firstMatch(of: /known keys: ([A-Za-z, ]+)/)).1
      return keys.split(separator: ", ").map(String.init)
    }
    Issue.record("an unknown key was accepted")
    return []
  }

  @Test func anErrorEndsWithAPointerToThePage() throws {
    let title = try #require(page.title)
    #expect(MappingFile.reference.contains("\"\(title)\""))
    for text in ["import: [", "import: P"] {
      let error = #expect(throws: YAMLError.self) {
        try MappingFile.read(Array(text.utf8), file: "m", schema: schema)
      }
      #expect(error?.summary.hasSuffix("; \(MappingFile.reference)") == true)
    }
  }
}

/// The headings and listings of the page.
private struct ReferencePage {
  struct Key: CustomStringConvertible {
    let section: String
    let name: String

    var description: String { "\(name) (\(section))" }
  }

  struct Listing {
    /// The text of the comment before it.
    let kind: String?
    let section: String
    let key: String?
    let line: Int
    var text = ""
  }

  private(set) var title: String?
  private(set) var keys: [Key] = []
  private(set) var listings: [Listing] = []

  init() throws {
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    let file = folder.appending(path: "Sources/Mooring/Mooring.docc/ImportMappingReference.md")
    let page = try String(contentsOf: file, encoding: .utf8)
    var section = ""
    var key: String?
    var kind: String?
    var listing: Listing?
    for (number, line) in page.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      if var open = listing {
        if line == "```" {
          listings.append(open)
          (listing, kind) = (nil, nil)
        } else {
          open.text += line + "\n"
          listing = open
        }
      } else if line == "```yaml" {
        listing = Listing(kind: kind, section: section, key: key, line: number + 1)
      } else if let comment = line.wholeMatch(of: /<!-- (.+) -->/) {
        kind = String(comment.1)
      } else if let heading = line.wholeMatch(of: /### (.+)/) {
        key = String(heading.1)
        keys.append(Key(section: section, name: String(heading.1)))
      } else if let heading = line.wholeMatch(of: /## (.+)/) {
        (section, key) = (String(heading.1), nil)
      } else if let heading = line.wholeMatch(of: /# (.+)/) {
        title = String(heading.1)
      }
    }
  }
}

extension ReferencePage.Listing {
  /// The complete mapping that contains the listing; `nil` for an unknown kind.
  var mapping: String? {
    let head = "import: p\ndialect: plain\nentities:\n"
    switch kind {
    case "mapping": return text
    case "entity": return head + text.indented(by: 2)
    case "attributes":
      return head + "  - entity: Episode\n    table: ZITEM\n    key: [Z_PK]\n    attributes:\n"
        + text.indented(by: 6)
    case "relationships":
      return head + "  - { entity: Feed, table: ZFEED, key: [Z_PK], attributes: { url: ZURL } }\n"
        + "  - entity: Episode\n    table: ZITEM\n    key: [Z_PK]\n    relationships:\n"
        + text.indented(by: 6)
    case "playlist relationships":
      return head + "  - { entity: Episode, table: ZITEM, key: [Z_PK] }\n"
        + "  - entity: Playlist\n    table: ZLIST\n    key: [Z_PK]\n    relationships:\n"
        + text.indented(by: 6)
    default: return nil
    }
  }
}

extension String {
  fileprivate func indented(by columns: Int) -> String {
    split(separator: "\n").map { String(repeating: " ", count: columns) + $0 + "\n" }.joined()
  }
}
