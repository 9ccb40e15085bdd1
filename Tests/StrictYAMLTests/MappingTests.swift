import StrictYAML
import Testing

@Suite struct MappingTests {
  @Test func aMappingWhoseKeysAreAllTakenIsAccepted() throws {
    var mapping = try parse("name: a\nunique: true\nnote: ~")
    #expect(try mapping.required("name").string() == "a")
    #expect(try mapping.optional("unique")?.bool() == true)
    #expect(mapping.optional("note")?.isNull == true)
    #expect(mapping.optional("size")?.kind == nil)
    try mapping.finish()
  }

  @Test func keysComeInTheOrderOfTheFileWithTheirLines() throws {
    let mapping = try parse("b: 1\n\na:\n  c: 2\n\"d\": 3")
    #expect(mapping.keys.map(\.key) == ["b", "a", "d"])
    #expect(mapping.keys.map(\.line) == [1, 3, 5])
  }

  @Test func anUnknownKeyIsRefusedWithTheNearestKnownOne() throws {
    var mapping = try parse("watchedAt: 1\nfavoriteAt: 2\nprogess: 3\nwatchedat: 4")
    for key in ["watchedAt", "favoriteAt", "progress", "duration"] { _ = mapping.optional(key) }
    let error = #expect(throws: YAMLError.self) { try mapping.finish() }
    #expect(
      error?.description == "f:3:1: the key \"progess\" is unknown; did you mean \"progress\"?")
  }

  @Test func anUnknownKeyFarFromAllIsRefusedWithTheKnownOnes() throws {
    var mapping = try parse("name: a\n  \nzebra: 3")
    _ = try mapping.required("name")
    _ = mapping.optional("unique")
    let error = #expect(throws: YAMLError.self) { try mapping.finish() }
    #expect(error?.description == "f:3:1: the key \"zebra\" is unknown; known keys: name, unique")
    let untouched = #expect(throws: YAMLError.self) { try parse("a: 1").finish() }
    #expect(untouched?.description == "f:1:1: the key \"a\" is unknown; no key is expected here")
  }

  @Test func aMissingKeyIsNamedAtTheMapping() throws {
    var root = try parse("steps:\n  - {kind: x}")
    var step = try #require(try root.required("steps").sequence().first).mapping()
    let error = #expect(throws: YAMLError.self) { try step.required("entity") }
    #expect(error?.description == "f:2:5: the key \"entity\" is missing; add it")
  }

  @Test func aMissingKeyPointsAtAMisspelledOne() throws {
    var mapping = try parse("line: a\nidd: b\nparnet: c")
    _ = try mapping.required("line")
    let error = #expect(throws: YAMLError.self) { try mapping.required("parent") }
    #expect(
      error?.description
        == "f:1:1: the key \"parent\" is missing; is \"parnet\" at line 3 meant?")
  }

  @Test func errorsOfTheCallerCarryThePlaceOfNodeAndMapping() throws {
    var mapping = try parse("a: 1\nbb: [x, \"ü\", {c: d}]")
    #expect(mapping.error("no").description == "f:1:1: no")
    let elements = try mapping.required("bb").sequence()
    #expect(
      elements.map { $0.error("no").description } == ["f:2:6: no", "f:2:9: no", "f:2:14: no"])
    #expect(elements.map(\.kind) == [.scalar, .scalar, .mapping])
  }

  private func parse(_ text: String) throws -> YAMLMapping {
    try YAMLDocument.parse(text, file: "f").mapping()
  }
}
