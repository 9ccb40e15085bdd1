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

  @Test func aPredicatePrintsWithItsQuotesAndParentheses() {
    let predicate =
      FetchPredicate.comparison("title", .equal, "a \"b\" \\")
      && (.isNull("x") || .not(.comparison("n", .greaterOrEqual, 1.5)))
    #expect(
      predicate.description
        == #"title == "a \"b\" \\" AND (x == nil OR NOT (n >= 1.5))"#)
    #expect(FetchPredicate.and([]).description == "TRUEPREDICATE")
    #expect(FetchPredicate.or([]).description == "FALSEPREDICATE")
    #expect(FetchPredicate.isNotNull("a").description == "a != nil")
  }

  @Test func aRequestGoesThroughJSONUnchanged() throws {
    var random = SeededRandom(seed: 5)
    let parts = ValueKind.allCases.filter { $0 != .double && $0 != .date }.map {
      FetchPredicate.comparison($0.rawValue, .notEqual, random.value($0))
    }
    let request = FetchRequest(
      entityName: "E", predicate: .not(.or(parts)), sortBy: [SortKey("a", descending: true)],
      fetchLimit: 3, fetchOffset: 4, requiresIndex: true)
    let data = try JSONEncoder().encode(request)
    #expect(try JSONDecoder().decode(FetchRequest.self, from: data) == request)
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
