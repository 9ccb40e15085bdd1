import EntityModel
import Foundation
import Testing

@Suite struct ObjectIDTests {
  private let store = UUID()

  @Test func aURLReadsBack() throws {
    for number in [1, 42, Int64.max] {
      let id = ObjectID(entity: "Episode_2", number: number)
      let url = id.url(in: store)
      #expect(url.absoluteString == id.reference(in: store))
      #expect(ObjectID(url: url, in: store) == id)
      #expect(ObjectID(reference: url.absoluteString, in: store) == id)
    }
    let odd = ObjectID(entity: "Ä b", number: 7)
    #expect(ObjectID(url: odd.url(in: store), in: store) == odd)
  }

  @Test func aURLOfSomethingElseIsRefused() throws {
    let url = ObjectID(entity: "E", number: 1).url(in: store)
    #expect(ObjectID(url: url, in: UUID()) == nil)
    for text in ["https://example.org/E/1", "mooring://x/E/1", "\(url)/2", "mooring:E"] {
      #expect(ObjectID(url: try #require(URL(string: text)), in: store) == nil)
    }
  }
}
