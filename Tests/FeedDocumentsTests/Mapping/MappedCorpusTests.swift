import EntityModel
import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

/// Recorded responses of three APIs, read by mappings of 25 lines at most, compared with the output
/// of an independent mapper.
@Suite struct MappedCorpusTests {
  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func everyDocumentBecomesTheItemsOfAnIndependentMapper() throws {
    var documents = 0
    var items = 0
    for line in try FeedCorpora.lines(of: "mapped.jsonl") {
      let expected = try #require(
        try JSONSerialization.jsonObject(with: line) as? [String: Any])
      let name = try #require(expected["mapping"] as? String)
      let file = try #require(expected["file"] as? String)
      var source = DocumentSource()
      source.url = "https://api.example/list?page=7&key=k"
      let page = try mappedPage(
        try FeedCorpora.bytes(of: file), by: try MappingFixture.text(name), source)
      let entities = try #require(expected["entities"] as? [[String: Any]])
      let found = page.items.filter { !$0.isDeleted }
      #expect(found.count == entities.count, "\(file)")
      #expect(page.rejected.count == expected["skipped"] as? Int, "\(file)")
      for (item, entity) in zip(found, entities) { expect(item, entity, file) }
      expectPages(page, expected, file)
      documents += 1
      items += entities.count
    }
    #expect(documents == 51)
    print("\(items) items of \(documents) documents are equal")
  }

  private func expect(_ item: FeedItem, _ expected: [String: Any], _ file: String) {
    var expected = expected
    #expect(item.id == expected.removeValue(forKey: "id") as? String, "\(file)")
    let updatedAt = expected.removeValue(forKey: "updatedAt") as? Double
    let milliseconds = item.updatedAt.map { ($0.timeIntervalSince1970 * 1_000).rounded() }
    #expect(milliseconds == updatedAt, "\(file) \(item.id)")
    if let revision = expected["revision"] as? Int64 {
      #expect(item.revision == revision, "\(file) \(item.id)")
      expected["revision"] = nil
    }
    var values = item.values
    values["updatedAt"] = nil
    for (name, value) in expected {
      let texts = (value as? [Any])?.map { "\($0)" }
      // An empty list is as good as none.
      if texts?.isEmpty == true { continue }
      let found = values.removeValue(forKey: name)
      let place = Comment(rawValue: "\(file) \(item.id) \(name): \(String(describing: found))")
      switch found {
      case .string(let text): #expect(value as? String == text, place)
      case .url(let url): #expect(value as? String == url.absoluteString, place)
      case .int64(let number): #expect(value as? Int64 == number, place)
      case .double(let number): #expect(value as? Double == number, place)
      case .bool(let flag): #expect(value as? Bool == flag, place)
      case .strings(let list): #expect(texts == list, place)
      default: Issue.record(place)
      }
    }
    #expect(values.isEmpty, "\(file) \(item.id)")
    #expect(item.fields.count == item.values.count, "\(file) \(item.id)")
  }

  private func expectPages(_ page: FeedPage, _ expected: [String: Any], _ file: String) {
    let next = expected["next"] as? [String: Any]
    let parameter = next?.first.map { name, value in
      URLQuery.setting(name, to: "\(value)", in: "https://api.example/list?page=7&key=k")
    }
    #expect(page.next == parameter, "\(file)")
    if let checkpoint = expected["checkpoint"] as? String {
      #expect(page.nextRun == .url(checkpoint), "\(file)")
    }
    if let deleted = expected["deleted"] as? [Any] {
      #expect(page.items.count(where: \.isDeleted) == deleted.count, "\(file)")
    }
  }

  @Test(arguments: MappingFixture.names)
  func everyMappingHasAtMost25Lines(_ name: String) throws {
    let lines = try MappingFixture.text(name).split(separator: "\n")
    #expect(lines.count <= 25)
    _ = try readMapping(try MappingFixture.text(name))
  }
}

/// Mappings that are written as files.
enum MappingFixture {
  static let names = [
    "contentful-entries", "contentful-sync", "tmdb-list", "youtube-playlistItems",
    "youtube-playlists", "youtube-search", "youtube-videos",
  ]

  static func text(_ name: String) throws -> String {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    return try String(contentsOf: folder.appending(path: name + ".yaml"), encoding: .utf8)
  }
}
