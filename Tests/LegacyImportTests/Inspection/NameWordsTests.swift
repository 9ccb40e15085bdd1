import EntityModel
import Testing

@testable import LegacyImport

@Suite struct NameWordsTests {
  @Test(arguments: [
    ("rss_item", ["rss", "item"]), ("lastModified", ["last", "modified"]), ("URL", ["url"]),
    ("feedURL", ["feed", "url"]), ("URLString", ["url", "string"]), ("ZITEM", ["zitem"]),
    ("Z_4EPISODES", ["z", "4", "episodes"]), ("idFile", ["id", "file"]), ("c00", ["c00"]),
    ("a b-c.d", ["a", "b", "c", "d"]), ("", []), ("漢字", []), ("naïve", ["na", "ve"]),
  ])
  func aNameHasWords(name: String, words: [String]) { #expect(NameWords(name).words == words) }

  @Test func wordsMakeNames() {
    #expect(NameWords("rss_item").capitalizedCamelCase == "RssItem")
    #expect(NameWords("db_schema_version").camelCase == "dbSchemaVersion")
  }

  @Test func namesThatAreTakenGetNumbers() {
    var names = TargetNames()
    #expect(names.free("title", otherwise: "column") == "title")
    #expect(names.free("Title", otherwise: "column") == "Title2")
    #expect(names.free("", otherwise: "column") == "column")
    #expect(names.free("4th", otherwise: "column") == "column4th")
    let long = String(repeating: "a", count: 100)
    #expect(names.free(long, otherwise: "column").count == 63)
    #expect(names.free(long, otherwise: "column") == String(repeating: "a", count: 62) + "2")
  }

  @Test func aReferenceIsNamedWithoutItsKey() {
    #expect(ReferenceNames.stem(of: ["podcast", "id"]) == ["podcast"])
    #expect(ReferenceNames.stem(of: ["id", "file"]) == ["file"])
    #expect(ReferenceNames.stem(of: ["id"]) == ["id"])
  }
}
