import Testing
import TextFormats

@Suite struct NearestNameTests {
  @Test(arguments: [
    ("titel", "title"), ("Title", "title"), ("updatdAt", "updatedAt"), ("upatedat", "updatedAt"),
    ("urls", "url"), ("ulr", "url"), ("title", "title"), ("watchAt", nil), ("sum", nil),
    ("ur", "url"), ("u", nil), ("", nil), ("duratoin", "duration"), ("druatoin", "duration"),
  ])
  func aNameWithFewDifferencesIsFound(_ word: String, _ meant: String?) {
    let names = ["id", "title", "url", "updatedAt", "watchedLaterAt", "duration"]
    #expect(NearestName.of(word, among: names) == meant)
  }

  @Test func theNearestOfSeveralIsTaken() {
    #expect(NearestName.of("favorites", among: ["favoured", "favorite"]) == "favorite")
    #expect(NearestName.of("word", among: []) == nil)
    let advice = NearestName.advice(on: "titel", among: ["title"], otherwise: "it has title")
    #expect(advice == "did you mean \"title\"?")
    #expect(NearestName.advice(on: "x", among: ["title"], otherwise: "no") == "no")
  }
}
