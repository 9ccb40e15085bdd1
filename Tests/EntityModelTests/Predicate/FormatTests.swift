import EntityModel
import Foundation
import Testing

@Suite struct FormatTests {
  typealias Comparison = FetchPredicate.Comparison

  private func comparison(
    _ left: FetchExpression, _ comparison: ComparisonOperator, _ right: FetchExpression,
    _ options: ComparisonOptions = [], _ quantifier: FetchPredicate.Quantifier? = nil
  ) -> FetchPredicate {
    .comparison(Comparison(left, comparison, right, options: options, quantifier: quantifier))
  }

  private func predicate(
    _ format: String, _ arguments: (any PredicateArgument)?...
  ) throws -> FetchPredicate {
    do {
      return try FetchPredicate(format: format, arguments: arguments)
    } catch {
      Issue.record("\(error.message)\n\(error.caret)")
      throw error
    }
  }

  private func expression(_ format: String) throws -> FetchExpression {
    do {
      return try FetchExpression(format: format)
    } catch {
      Issue.record("\(error.message)\n\(error.caret)")
      throw error
    }
  }

  @Test func theRequestsOfAHomeFeedParse() throws {
    #expect(
      try predicate("%K != nil && progress != 0", "watchedAt")
        == .and([.isNotNull("watchedAt"), .comparison("progress", .notEqual, 0)]))
    #expect(try predicate("type == %i", 1) == .comparison("type", .equal, 1))
    #expect(try predicate("watchLaterAt != nil") == .isNotNull("watchLaterAt"))
    #expect(try predicate("name == $NAME") == comparison(.path("name"), .equal, .variable("NAME")))
  }

  @Test(
    "Every operator has its spellings",
    arguments: [
      ("==", .equal), ("=", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<", .less),
      ("<=", .lessOrEqual), ("=<", .lessOrEqual), (">", .greater), (">=", .greaterOrEqual),
      ("=>", .greaterOrEqual), ("between", .between), ("In", .isIn), ("CONTAINS", .contains),
      ("beginsWith", .beginsWith), ("ENDSWITH", .endsWith), ("Like", .like), ("matches", .matches),
    ] as [(String, ComparisonOperator)])
  func operators(text: String, meaning: ComparisonOperator) throws {
    let expected = comparison(.path("a"), meaning, .variable("x"))
    #expect(try predicate("a \(text) $x") == expected)
    #expect(try predicate("a\n\t\(text)\u{a0}$x ") == expected)
    #expect(
      try predicate("a \(text)[Cd]$x")
        == comparison(
          .path("a"), meaning, .variable("x"), [.caseInsensitive, .diacriticInsensitive])
    )
  }

  @Test func optionsCombineInAnyOrderAndCase() throws {
    let all: ComparisonOptions = [
      .caseInsensitive, .diacriticInsensitive, .normalized, .localized,
    ]
    #expect(try predicate("a ==[LnDc] 'x'") == comparison(.path("a"), .equal, "x", all))
    #expect(try predicate("a == [ l ] 'x'") == comparison(.path("a"), .equal, "x", .localized))
  }

  @Test func andBindsTighterThanOrAndNotTighterThanBoth() throws {
    let (a, b, c) = (
      FetchPredicate.isNull("a"), FetchPredicate.isNull("b"), FetchPredicate.isNull("c")
    )
    #expect(try predicate("a=nil AND b=nil OR c=nil") == .or([.and([a, b]), c]))
    #expect(try predicate("a=nil || b=nil && c=nil") == .or([a, .and([b, c])]))
    #expect(try predicate("not a=nil and b=nil") == .and([.not(a), b]))
    #expect(try predicate("!(a=nil and b=nil)") == .not(.and([a, b])))
    #expect(try predicate("NOT a IN b") == .not(comparison(.path("a"), .isIn, .path("b"))))
    #expect(try predicate("NOT !a=nil") == .not(.not(a)))
  }

  @Test func aChainIsOneConditionAndParenthesesKeepTheirOwn() throws {
    let (a, b, c) = (
      FetchPredicate.isNull("a"), FetchPredicate.isNull("b"), FetchPredicate.isNull("c")
    )
    #expect(try predicate("a=nil AND b=nil AND c=nil") == .and([a, b, c]))
    #expect(try predicate("(a=nil AND b=nil) AND c=nil") == .and([.and([a, b]), c]))
    #expect(try predicate("a=nil OR (b=nil OR c=nil)") == .or([a, .or([b, c])]))
    #expect(try predicate("((a=nil))") == a)
    #expect(
      try predicate("a=nil AND b=nil OR c=nil AND a=nil OR b=nil")
        == .or([.and([a, b]), .and([c, a]), b]))
  }

  @Test func quantifiersStandBeforeAComparison() throws {
    let over = comparison(.path("episodes.progress"), .greater, 0.5, [], .any)
    #expect(try predicate("ANY episodes.progress > 0.5") == over)
    #expect(try predicate("some episodes.progress > 0.5") == over)
    #expect(try predicate("NONE episodes.progress > 0.5") == .not(over))
    #expect(
      try predicate("ALL tags == 'x' AND a = nil")
        == .and([comparison(.path("tags"), .equal, "x", [], .all), .isNull("a")]))
    #expect(
      try predicate("ANY a + 1 == 2")
        == comparison(.arithmetic(.add, .path("a"), 1), .equal, 2, [], .any))
  }

  @Test func existsHasAPredicateAboutTheOtherRecord() throws {
    let inner = FetchPredicate.and([.comparison("b", .equal, 1), .isNull("c")])
    #expect(try predicate("ANY a SATISFIES (b == 1 AND c = nil)") == .exists("a", inner))
    #expect(try predicate("NONE a satisfies (b == 1 AND c = nil)") == .not(.exists("a", inner)))
    #expect(try predicate("satisfies == 1") == .comparison("satisfies", .equal, 1))
  }

  @Test func aParenthesisMayHoldAConditionOrAValue() throws {
    let sum = FetchExpression.arithmetic(.add, .path("a"), 1)
    #expect(
      try predicate("(a + 1) * 2 == 4 AND ((a + 1)) == 3")
        == .and([
          comparison(.arithmetic(.multiply, sum, 2), .equal, 4), comparison(sum, .equal, 3),
        ]))
  }

  @Test func arithmeticPrecedenceAgreesWithApples() throws {
    let (a, b, c) = (
      FetchExpression.path("a"), FetchExpression.path("b"), FetchExpression.path("c")
    )
    #expect(try expression("a + b * c") == .arithmetic(.add, a, .arithmetic(.multiply, b, c)))
    #expect(try expression("a - b - c") == .arithmetic(.subtract, .arithmetic(.subtract, a, b), c))
    #expect(try expression("a ** b ** c") == .arithmetic(.power, .arithmetic(.power, a, b), c))
    #expect(try expression("a / b ** c") == .arithmetic(.divide, a, .arithmetic(.power, b, c)))
    #expect(try expression("-a ** b") == .arithmetic(.power, .negative(a), b))
    #expect(try expression("a - -1") == .arithmetic(.subtract, a, -1))
    #expect(try expression("a-1") == .arithmetic(.subtract, a, 1))
  }

  @Test func aMinusBeforeANumberIsPartOfIt() throws {
    #expect(try expression("-5") == -5)
    #expect(try expression("-(5)") == .negative(5))
    #expect(try expression("- -5") == .negative(-5))
    #expect(try expression("-9223372036854775808") == .value(.int64(.min)))
  }

  @Test func numbersAreIntegersOrDoubles() throws {
    #expect(try expression("0x7fFF") == 32767)
    #expect(try expression("-0x10") == -16)
    #expect(try expression("1.5e-3") == 0.0015)
    #expect(try expression("2E2") == 200.0)
    #expect(try expression("9223372036854775807") == .value(.int64(.max)))
  }

  @Test func textsHaveEitherQuotesAndEscapes() throws {
    #expect(try expression(#"'a"b'"#) == #"a"b"#)
    #expect(try expression(#""\\ \" \' \n \t \r é \ud83d\ude00""#) == "\\ \" ' \n \t \r é 😀")
    #expect(try predicate("a == '%@ %%'") == .comparison("a", .equal, "%@ %%"))
    // A combining mark directly behind a quote belongs to the text.
    #expect(try expression("'\u{301}a'") == .value("\u{301}a"))
  }

  @Test func constantsHaveTheirWordsInAnyCase() throws {
    for text in ["nil", "NULL", "Nil"] { #expect(try expression(text) == nil) }
    for text in ["TRUE", "yes"] { #expect(try expression(text) == true) }
    for text in ["False", "NO"] { #expect(try expression(text) == false) }
    #expect(try predicate("TruePredicate") == .always(true))
    #expect(
      try predicate("FALSEPREDICATE AND SELF == nil")
        == .and([.always(false), comparison(.itself, .equal, nil)]))
  }

  @Test func typedLiteralsTakeNoNameAway() throws {
    #expect(
      try expression(#"DATE "2026-11-21T04:00:00Z""#)
        == .value(.date(Date(timeIntervalSinceReferenceDate: 816_926_400))))
    #expect(
      try expression("date '0.1s'") == .value(.date(Date(timeIntervalSinceReferenceDate: 0.1))))
    #expect(try expression("DOUBLE '-inf'") == .value(.double(-.infinity)))
    #expect(try expression("STRINGS { 'a' , 'b' }") == .value(.strings(["a", "b"])))
    #expect(try expression("strings {}") == .value(.strings([])))
    #expect(
      try expression("OBJECT 'a/b/-7'") == .object(ObjectID(entity: "a/b", number: -7)))
    #expect(
      try predicate("date == url AND data != strings")
        == .and([
          comparison(.path("date"), .equal, .path("url")),
          comparison(.path("data"), .notEqual, .path("strings")),
        ]))
  }

  @Test func listsHoldValuesOfAllKinds() throws {
    #expect(try expression("{}") == .list([]))
    #expect(
      try expression("{1, {a}, $x, -a * 2}")
        == .list([
          1, .list([.path("a")]), .variable("x"), .arithmetic(.multiply, .negative(.path("a")), 2),
        ]))
    #expect(try predicate("a IN $LIST") == comparison(.path("a"), .isIn, .variable("LIST")))
    #expect(
      try predicate("a BETWEEN {1, %d}", 5) == comparison(.path("a"), .between, .list([1, 5])))
  }

  @Test func pathsPassRelationshipsAndFunctions() throws {
    #expect(try expression("a.b.c") == .path("a.b.c"))
    #expect(try expression("a . b") == .path("a.b"))
    #expect(try expression("SELF.a") == .path("a"))
    #expect(try expression("self") == .itself)
    #expect(try expression("#in.and") == .path("in.and"))
    #expect(try expression("#'a b'") == .path("a b"))
    #expect(try expression("a.@count") == .collection("a", .count, nil))
    #expect(try expression("a.b.@SUM.c.d") == .collection("a.b", .sum, "c.d"))
    #expect(try expression("tags[SIZE]") == .collection("tags", .count, nil))
    #expect(try expression("größe") == .path("größe"))
  }

  @Test func aggregatesHaveTwoSpellings() throws {
    for (text, function) in [
      ("sum", .sum), ("average", .average), ("MIN", .minimum), ("max", .maximum),
      ("count", .count), ("countDistinct", .countDistinct),
    ] as [(String, AggregateFunction)] {
      #expect(try expression("\(text)(a)") == .aggregate(function, .path("a")))
      #expect(try expression("\(text):(a)") == .aggregate(function, .path("a")))
    }
    #expect(try expression("count(*)") == .aggregate(.count, nil))
    #expect(try predicate("count > 2") == .comparison("count", .greater, 2))
    #expect(
      try expression("sum(a * 2) / 3")
        == .arithmetic(.divide, .aggregate(.sum, .arithmetic(.multiply, .path("a"), 2)), 3))
  }

  @Test func argumentsTakeTheirPlacesFromLeftToRight() throws {
    #expect(
      try predicate("%K.%K == %@ AND %K != %f", "a", "b.c", "it's %@", "d.@avg.e", 3)
        == .and([
          .comparison("a.b.c", .equal, "it's %@"),
          comparison(.collection("d", .average, "e"), .notEqual, 3.0),
        ]))
    #expect(
      try predicate("%K IN %@", FetchExpression.path("in"), [1, 2])
        == comparison(.path("in"), .isIn, .list([1, 2])))
    #expect(try predicate("a == %@", nil) == .isNull("a"))
    #expect(
      try predicate("SELF == %@", ObjectID(entity: "E", number: 1))
        == comparison(.itself, .equal, .object(ObjectID(entity: "E", number: 1))))
    #expect(
      try predicate("a IN {%d, %i, %ld, %lld, %lu, %s}", true, Int32(2), 3, Int64(4), 5, "x")
        == comparison(.path("a"), .isIn, .list([1, 2, 3, 4, 5, "x"])))
  }
}
