import EntityModel
import Foundation
import Testing

@Suite struct PredicateVariableTests {
  private let template: FetchPredicate

  init() throws {
    template = try FetchPredicate(
      format: "name == $NAME AND (x IN $LIST OR NOT ANY e SATISFIES (y > $MIN + 1)) AND z == $NAME")
  }

  @Test func aPredicateNamesItsVariables() throws {
    #expect(template.variables == ["NAME", "LIST", "MIN"])
    #expect(
      try FetchPredicate(format: "a == {1, sum($x), -$y, 1 + $z}").variables
        == ["x", "y", "z"])
    #expect(FetchPredicate.isNull("NAME").variables.isEmpty)
  }

  @Test func valuesTakeThePlacesOfVariables() throws {
    let filled = try template.substituting([
      "NAME": "it's", "LIST": [1, 2], "MIN": FetchExpression.path("w"), "UNUSED": 5,
    ])
    #expect(
      filled.description == """
        name == "it's" AND (x IN {1, 2} OR NOT (ANY e SATISFIES (y > w + 1))) AND z == "it's"
        """)
    #expect(filled.variables.isEmpty)
    #expect(
      try FetchExpression(format: "sum($x) * -$y").substituting(["x": 2, "y": Optional<Int>.none])
        == .arithmetic(.multiply, .aggregate(.sum, .value(2)), .negative(.value(nil))))
  }

  @Test func aMissingVariableIsNamed() {
    let error = #expect(throws: PredicateVariableError.self) {
      try template.substituting(["NAME": "a", "LIST": [1]])
    }
    #expect(error?.variable == "MIN")
    #expect(error?.description == "$MIN: no value is given; pass one")
  }

  @Test func notANumberIsRefused() {
    #expect(throws: PredicateVariableError.self) {
      try FetchExpression.variable("x").substituting(["x": [Double.nan]])
    }
  }
}
