import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import Testing

@testable import FeedSync

/// Documents that are no feeds, and hostile ones.
@Suite struct HostileInspectionTests {
  @Test(arguments: [
    "", " ", "{", "[1,2", "nonsense", "\u{0}\u{1}\u{2}", "\u{1F}\u{8B}\u{8}", "{\"a\":\"\u{1}\"}",
    "<html><body>no</body></html>", String(repeating: "[", count: 100_000),
    String(repeating: "{\"a\":", count: 70) + "1" + String(repeating: "}", count: 70),
  ])
  func invalidDocumentsAreErrorsInOneLine(_ text: String) async throws {
    let error = try await #require(throws: SyncError.self) { try await inspect(text) }
    #expect(error.code == .badDocument)
    #expect(!error.description.contains { $0.isNewline } && error.description.count < 1_000)
  }

  @Test(arguments: ["1", "null", "\"text\"", "[]", "{}", "[1,2,3]", "{\"items\":{}}", "[[{}]]"])
  func aDocumentWithoutItemsSuggestsNothing(_ text: String) async throws {
    let found = try await inspect(text)
    #expect(found.mapping == nil && found.migration == nil && found.members.isEmpty)
    #expect(!found.notes.isEmpty)
  }

  @Test func itemsWithoutAnIDSuggestNothing() async throws {
    let found = try await inspect(#"{"items":[{"flag":true},{"flag":false}]}"#)
    #expect(found.mapping == nil && found.notes.contains { $0.contains("identifies the items") })
  }

  @Test func namesOfAnyKindAreWrittenSoThatTheyReadBack() async throws {
    let names = [
      "a b", "x: y", "# no", "quo\\\"te", "back\\\\slash", "ti/l~de", "new\\nline", "[*]", "true",
      "ключ", "it's", "\\u0000nul", "{id}", "@type", "-", "",
    ]
    let members = names.enumerated().map { "\"\($1)\":\"v\($0)\"" }.joined(separator: ",")
    let lists = names.map { "\"l\($0)\":[\"a\"]" }.joined(separator: ",")
    let document = "{\"o'\\\\x\":{\"items\":[{\"id\":\"1\",\(members),\(lists)}]}}"
    let found = try await inspect(document)
    #expect(found.path == #"$['o\'\\x'].items[*]"#)
    let page = try suggestedPage(of: Array(document.utf8), by: found)
    #expect(page.items.count == 1 && page.rejected.isEmpty && page.drift.unknownMembers == 0)
  }

  @Test func manyItemsAndMembersAreBounded() async throws {
    let members = (0..<1_000).map { "\"m\($0)\":\($0)" }.joined(separator: ",")
    let wide = try await inspect(#"{"items":[{"id":1,\#(members)}]}"#)
    #expect(wide.members.count == 200 && wide.hasMoreMembers)
    #expect(wide.newAttributes.count == 17, "with the one that keeps the rest")
    let items = (0..<100_000).map { "{\"id\":\($0)}" }.joined(separator: ",")
    let long = try await inspect("[\(items)]")
    #expect(long.items == 100_000 && long.itemsLookedAt == 100_000)
  }

  @Test func aLongTextIsCutToAnExample() async throws {
    let text = String(repeating: "word ", count: 100_000)
    let found = try await inspect(#"[{"id":"1","text":"\#(text)"}]"#)
    let example = try #require(found.members.first { $0.pointer == "/text" }?.example)
    #expect(example.count == 61 && example.hasSuffix("…"))
  }
}
