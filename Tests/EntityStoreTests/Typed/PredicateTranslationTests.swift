import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

/// The tree that a `#Predicate` becomes: what an index can serve must be plain to see in it.
@Suite struct PredicateTranslationTests {
  private func expect<T: Entity>(
    _ predicate: Predicate<T>, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let tree = try FetchPredicate(predicate)
    #expect(tree.description == text, sourceLocation: sourceLocation)
  }

  @Test func comparisonsStayPlain() throws {
    let kind = Probe.Kind.small
    try expect(
      #Predicate<Probe> { $0.number > 1 && $0.share == 0.5 }, "number > 1 AND share == 0.5")
    try expect(#Predicate<Probe> { !($0.number > 1) }, "number <= 1")
    try expect(#Predicate<Probe> { 3 < $0.number }, "3 < number")
    try expect(#Predicate<Probe> { $0.kind == kind }, "kind == 1")
    try expect(#Predicate<Probe> { $0.isDone || !$0.isDone }, "isDone == TRUE OR isDone == FALSE")
    try expect(#Predicate<Probe> { $0.place.row == 1 }, "row == 1")
    try expect(#Predicate<Probe> { $0.grade?.rawValue == 7 }, "grade == 7")
  }

  @Test func swiftsMeaningOfNullIsWrittenOut() throws {
    try expect(#Predicate<Probe> { $0.level != 2 }, "level == nil OR level != 2")
    try expect(#Predicate<Probe> { !($0.level == 2) }, "level == nil OR level != 2")
    try expect(#Predicate<Probe> { $0.level == nil }, "level == nil")
    try expect(
      #Predicate<Probe> { $0.level == $0.place.row },
      "level == row OR (level == nil AND row == nil)")
  }

  @Test func aTestForNullGoesWhereTheComparisonImpliesIt() throws {
    try expect(#Predicate<Probe> { $0.level != nil && $0.level! > 1 }, "level > 1")
    try expect(#Predicate<Probe> { $0.level != nil && 1 < $0.level! }, "1 < level")
    try expect(#Predicate<Probe> { ($0.ratio ?? 0) > 0.25 }, "ratio > 0.25")
    try expect(#Predicate<Probe> { ($0.ratio ?? 1) > 0.25 }, "ratio > 0.25 OR ratio == nil")
    try expect(#Predicate<Probe> { $0.title?.contains("a") == true }, "title CONTAINS \"a\"")
    try expect(
      #Predicate<Probe> { if let level = $0.level { level > 1 } else { false } }, "level > 1")
  }

  @Test func constantsAreFolded() throws {
    let (base, wanted) = (3, false)
    try expect(#Predicate<Probe> { $0.number > base * 2 - 1 }, "number > 5")
    try expect(#Predicate<Probe> { wanted && $0.number > 1 }, "FALSEPREDICATE")
    try expect(#Predicate<Probe> { wanted || $0.number > 1 }, "number > 1")
    try expect(#Predicate<Probe> { base > 2 ? $0.number > 1 : $0.isDone }, "number > 1")
    let words = ["b", "c"]
    try expect(#Predicate<Probe> { $0.number == words.count }, "number == 2")
    try expect(
      #Predicate<Probe> { probe in words.contains { probe.body.contains($0) } },
      "body CONTAINS \"b\" OR body CONTAINS \"c\"")
  }

  @Test func sequencesBecomeTheirOperators() throws {
    let numbers: Set = [4]
    try expect(#Predicate<Probe> { numbers.contains($0.number) }, "number IN {4}")
    try expect(#Predicate<Probe> { (1...5).contains($0.number) }, "number BETWEEN {1, 5}")
    try expect(#Predicate<Probe> { (1..<5).contains($0.number) }, "number >= 1 AND number < 5")
    try expect(#Predicate<Probe> { $0.words.contains("a") }, "words CONTAINS \"a\"")
    try expect(#Predicate<Probe> { $0.words.contains { $0 > "a" } }, "ANY words > \"a\"")
    try expect(#Predicate<Probe> { $0.words.allSatisfy { $0 == "a" } }, "NOT (ANY words != \"a\")")
    try expect(#Predicate<Probe> { $0.words.count > 1 }, "words.@count > 1")
    try expect(#Predicate<Probe> { $0.body.isEmpty }, "body == \"\"")
    try expect(#Predicate<Probe> { $0.body.starts(with: "a") }, "body BEGINSWITH \"a\"")
  }

  @Test func textsForPeopleBecomeOptions() throws {
    let (same, before) = (ComparisonResult.orderedSame, ComparisonResult.orderedAscending)
    try expect(
      #Predicate<Probe> { $0.body.localizedStandardContains("é") }, "body CONTAINS[cd] \"é\"")
    try expect(#Predicate<Probe> { $0.body.localizedCompare("b") == before }, "body <[l] \"b\"")
    try expect(
      #Predicate<Probe> { $0.body.caseInsensitiveCompare("b") == same }, "body ==[c] \"b\"")
    try expect(
      #Predicate<Probe> { $0.title?.caseInsensitiveCompare("b") == same }, "title ==[c] \"b\"")
  }

  @Test func pathsGoThroughRelationships() throws {
    let id = ObjectID(entity: "Book", number: 7)
    try expect(#Predicate<Chapter> { $0.book?.value?.title == "x" }, "book.title == \"x\"")
    try expect(
      #Predicate<Chapter> { $0.book?.value?.series?.value?.name == "s" },
      "book.series.name == \"s\"")
    try expect(#Predicate<Chapter> { $0.book == nil }, "book == nil")
    try expect(#Predicate<Chapter> { $0.book?.id == id }, "book == OBJECT \"Book/7\"")
    try expect(#Predicate<Chapter> { $0.book != nil && $0.pages > 3 }, "book != nil AND pages > 3")
    try expect(
      #Predicate<Chapter> { $0.book?.value?.title != "x" },
      "book.title == nil OR book.title != \"x\" OR book == nil")
  }

  @Test func closuresOverRelatedRecordsBecomeExistence() throws {
    try expect(
      #Predicate<Book> { $0.chapters.values?.contains { $0.pages > 3 && $0.title == "a" } == true },
      "ANY chapters SATISFIES (pages > 3 AND title == \"a\")")
    try expect(
      #Predicate<Book> { $0.chapters.values!.allSatisfy { $0.pages > 3 } },
      "NOT (ANY chapters SATISFIES (pages <= 3))")
    try expect(#Predicate<Book> { $0.chapters.values?.isEmpty == true }, "chapters.@count == 0")
    try expect(#Predicate<Book> { $0.chapters.values!.count > 2 }, "chapters.@count > 2")
  }

  @Test func meaninglessPredicatesAreNamed() throws {
    func problem(_ predicate: Predicate<Probe>) -> String? {
      do {
        _ = try FetchPredicate(predicate)
        return nil
      } catch {
        return "\(error)"
      }
    }
    let unfit = problem(#Predicate<Probe> { $0.body.count > 2 })
    #expect(unfit?.contains("part: the count of a text") == true)
    let filter = problem(#Predicate<Probe> { $0.words.filter { $0 == "a" }.count > 1 })
    #expect(filter?.contains("part: Filter") == true)
    let unnamed = problem(#Predicate<Probe> { $0.share.isNaN })
    #expect(unnamed?.contains("key path does not lead to an attribute (type: Double") == true)
    let twofold = problem(#Predicate<Probe> { $0.words.contains { $0 > "a" && $0 < "c" } })
    #expect(twofold?.contains("several conditions on the same element") == true)
    let outside = problem(#Predicate<Probe> { probe in probe.words.contains { $0 == probe.body } })
    #expect(outside?.contains("uses an outside value") == true)
  }

  @Test func aTreeThatGrowsTooLargeIsRefused() throws {
    // To be equal, two conditions must both be true or both be false: each comparison doubles the
    // one in it.
    let small = Predicate<Probe> { alternating($0, depth: 3) }
    #expect(try FetchPredicate(small).description.count > 100)
    let large = Predicate<Probe> { alternating($0, depth: 30) }
    #expect(code { try FetchPredicate(large) } == .invalidRequest)
    let words = (0..<100_000).map { "w\($0)" }
    let many = #Predicate<Probe> { probe in words.contains { probe.body.contains($0) } }
    #expect(code { try FetchPredicate(many) } == .invalidRequest)
    let list = #Predicate<Probe> { words.contains($0.body) }
    #expect(code { try FetchPredicate(list) } == nil)
  }
}

/// `((… == number > 0) == number > 0) == number > 0`.
private func alternating(
  _ probe: PredicateExpressions.Variable<Probe>, depth: Int
) -> any StandardPredicateExpression<Bool> {
  typealias Build = PredicateExpressions
  let isPositive = Build.build_Comparison(
    lhs: Build.build_KeyPath(root: probe, keyPath: \.number), rhs: Build.build_Arg(0),
    op: .greaterThan)
  func nested(_ inner: some StandardPredicateExpression<Bool>, _ depth: Int)
    -> any StandardPredicateExpression<Bool>
  {
    depth == 0 ? inner : nested(Build.build_Equal(lhs: inner, rhs: isPositive), depth - 1)
  }
  return nested(isPositive, depth)
}
