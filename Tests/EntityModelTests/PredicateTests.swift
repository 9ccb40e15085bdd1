import EntityModel
import Foundation
import TestSupport
import Testing

@Suite struct PredicateTests {
  @Test func aConjunctionOfConjunctionsIsFlat() {
    let a = FetchPredicate.isNull("a")
    let b = FetchPredicate.isNotNull("b")
    let c = FetchPredicate.comparison("c", .less, 3)
    #expect((a && b && c).conjuncts == [a, b, c])
    #expect(FetchPredicate.and([.and([a]), .and([.and([b, c])])]).conjuncts == [a, b, c])
    #expect((a || b).conjuncts == [a || b])
    #expect(FetchPredicate.and([]).conjuncts.isEmpty)
  }

  @Test(
    "A predicate prints in its format-string syntax",
    arguments: [
      "type == 1 AND watchedAt != nil", "title CONTAINS[cd] \"x\"", "ANY episodes.progress > 0.5",
      "NOT (a == 1)", #"title == "a \"b\" \\" AND (x == nil OR NOT (n >= 1.5))"#,
      "(a == 1 AND b == 2) OR c == 3", "a + b * 2 - c == (a - (b - c)) / 2.0", "a == -(b)",
      "a IN {1, -2, $X}", "#in.and == SELF", "tags.@count > 3", "episodes.@sum.duration >= 1e+20",
      "sum(duration) > 100 AND count(*) < 5", "AND()", "OR(a == nil)", "-1 ** 2 == -(1)",
      "ANY episodes SATISFIES (progress == 0 AND type == 1)",
      #"date == DATE "2026-11-21T04:00:00Z" OR date == DATE "0.1234567s""#,
      #"o == OBJECT "Episode/7" AND s == STRINGS {"a", "b"} AND d == DECIMAL "9.99""#,
      ##"#"a b" == $"c d" AND x == DOUBLE "inf""##, #"a == "\n\t\r\u0000\u0085é""#,
    ])
  func naturalText(text: String) throws {
    #expect(try FetchPredicate(format: text).description == text)
  }

  @Test func aRequestGoesThroughJSONUnchanged() throws {
    var random = SeededRandom(seed: 5)
    let parts = ValueKind.allCases.map {
      FetchPredicate.comparison($0.rawValue, .notEqual, random.value($0))
    }
    var request = FetchRequest(
      entityName: "E", predicate: .not(.or(parts)), sortBy: [SortKey("a", descending: true)],
      fetchLimit: 3, fetchOffset: 4, requiresIndex: true)
    request.propertiesToFetch = [.sum("a", as: "total")]
    request.havingPredicate = try FetchPredicate(format: "sum(a) > 5")
    let data = try JSONEncoder().encode(request)
    #expect(try JSONDecoder().decode(FetchRequest.self, from: data) == request)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#""havingPredicate":"sum(a) > 5""#))
    #expect(text.contains(#""expression":"sum(a)""#))
  }

  @Test func noLimitIsStoredAsZero() throws {
    let request = FetchRequest(entityName: "E")
    #expect(request.fetchLimit == nil && request.fetchBatchSize == nil)
    let data = try JSONEncoder().encode(request)
    let text = String(decoding: data, as: UTF8.self)
    #expect(text.contains(#""fetchLimit":0"#) && text.contains(#""fetchBatchSize":0"#))
    #expect(!text.contains("redicate"))
    #expect(try JSONDecoder().decode(FetchRequest.self, from: data) == request)
    let stored = Data(#"{"entityName": "E", "fetchLimit": 0, "fetchBatchSize": 7}"#.utf8)
    var expected = request
    expected.fetchBatchSize = 7
    #expect(try JSONDecoder().decode(FetchRequest.self, from: stored) == expected)
  }

  @Test func anInvalidPredicateIsADecodingErrorWithTheReason() throws {
    let data = Data(#"["a == 1", "a =="]"#.utf8)
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([FetchPredicate].self, from: data)
    }
    #expect("\(try #require(error))".contains("expected a value, found the end"))
  }

  @Test func notANumberIsNotWritten() {
    let tree = FetchPredicate.comparison("a", .equal, .double(.nan))
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([tree]) }
  }

  @Test func aReferenceReadsBackInItsOwnStoreOnly() {
    let store = UUID()
    let id = ObjectID(entity: "Episode", number: -7)
    #expect(ObjectID(reference: id.reference(in: store), in: store) == id)
    #expect(ObjectID(reference: id.reference(in: store), in: UUID()) == nil)
    for text in ["", "mooring://", "mooring://x/Episode/1", id.reference(in: store) + "/2"] {
      #expect(ObjectID(reference: text, in: store) == nil)
    }
  }
}
