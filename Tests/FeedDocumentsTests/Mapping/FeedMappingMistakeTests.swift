import StrictYAML
import Testing

@testable import FeedDocuments

@Suite struct FeedMappingMistakeTests {
  @Test("Each mistake is named with its place and with what to do", arguments: mistakes)
  func mistake(text: String, message: String) throws {
    do {
      _ = try readMapping(text)
      Issue.record("read without an error: \(text)")
    } catch let error as YAMLError {
      #expect(error.description == message + FeedMappingFile.referenceNote)
    }
  }

  /// A mapping that is right but for one line.
  private static func with(_ line: String) -> String { "mapping: m\nitems: $[*]\nid: /id\n" + line }

  private static let mistakes: [(String, String)] = [
    ("[]", "m:1:1: expected a mapping, found a sequence"),
    ("items: $[*]", "m:1:1: the key \"mapping\" is missing; add it"),
    (
      "mapping: 1m",
      "m:1:10: \"1m\" is not a valid name of a mapping; use at most 64 letters, digits, - and ., a letter first"
    ),
    ("mapping: m", "m:1:1: the key \"items\" is missing; add it"),
    ("mapping: m\nitems: $[*]", "m:1:1: the key \"id\" is missing; add it"),
    (with("mode: ful"), "m:4:7: unknown mode \"ful\"; did you mean \"full\"?"),
    (with("mode: all"), "m:4:7: unknown mode \"all\"; known are full, delta, window"),
    (with("tittle: /t"), "m:4:1: the key \"tittle\" is unknown; did you mean \"title\"?"),
    (with("title: t"), "m:4:8: write a JSON Pointer, for example /data/next"),
    (with("title: /~2"), "m:4:8: JSON Pointer: expected ~0 for ~ or ~1 for / (byte 1)"),
    (
      with("entity: Smple"),
      "m:4:9: there is no entity \"Smple\"; did you mean \"Sample\"?"
    ),
    (
      with("entity: Nothing"),
      "m:4:9: there is no entity \"Nothing\"; apply the migration that creates it first"
    ),
    (
      with("entity: Film\nkind: { at: /k, entities: { a: Film } }"),
      "m:4:9: entity and kind exclude each other; remove one of them"
    ),
    (with("kind: { at: /k, entities: {} }"), "m:4:27: name at least one value, with its entity"),
    (with("kind: { entities: { a: Film } }"), place(4, 7)),
    (
      with("identity: [/id]"),
      "m:3:5: id and identity exclude each other; remove one of them"
    ),
    ("mapping: m\nitems: $[*]\nidentity: []", "m:3:11: name one to eight identities"),
    ("mapping: m\nitems: $[*]\nid: []", "m:3:5: name at least one pointer"),
    (
      "mapping: m\nitems: $[*]\nid: id",
      "m:3:5: write a JSON Pointer or a list of them"
    ),
    (
      "mapping: m\ngroups:\n  - { items: $.a, identity: [/id] }\n"
        + "  - { items: $.b, identity: [/id] }",
      "m:4:5: only one group can have an identity; write id here"
    ),
    (with("groups: []"), "m:4:9: name at least one group, or write items without groups"),
    (with("known: id"), "m:4:8: expected a sequence, found \"id\""),
    (
      with("next: page"),
      "m:4:7: write a pointer, link, rfc5005 or a mapping"
    ),
    (
      with("next: { param: page }"),
      "m:4:7: name the place of the next page with url, token, page or offset"
    ),
    (with("next: { token: /t }"), "m:4:7: the key \"param\" is missing; add it"),
    (
      with("next: { token: /t, param: \"\" }"),
      "m:4:27: name the parameter of the query that has the value"
    ),
    (with("next: { page: /p, param: p }"), "m:4:7: the key \"pages\" is missing; add it"),
    (
      with("checkpoint: { param: since }"),
      "m:4:13: name the start of the next run: a url, or a token with its param"
    ),
    (with("deleted: { items: $.gone }"), "m:4:10: the key \"id\" is missing; add it"),
    (
      with("attributes: { txt: /a }"),
      "m:4:20: Sample has no attribute \"txt\"; did you mean \"text\"?"
    ),
    (
      with("attributes: { other: /a }"),
      "m:4:22: Sample has no attribute \"other\"; add it with a migration, or remove the line"
    ),
    (
      with("attributes: { mine: /a }"),
      "m:4:21: Sample.mine belongs to the user, not to feeds; remove the line"
    ),
    (
      with("attributes: { feedID: /a }"),
      "m:4:23: Sample.feedID is a system attribute; map to another one"
    ),
    (
      with("updatedAt: /u\nattributes: { updatedAt: /a }"),
      "m:5:26: updatedAt is already a key of its own; remove it here"
    ),
    (
      with("attributes: { text: a }"),
      "m:4:21: write a pointer (/title), a list of them, a path ($.tags[*]) or a mapping"
    ),
    (with("attributes: { text: {} }"), place(4, 21)),
    (with("attributes: { text: { at: /a, path: $.a } }"), place(4, 21)),
    (
      with("extra: txt"),
      "m:4:8: Sample has no attribute \"txt\"; did you mean \"text\"?"
    ),
    (
      with("extra: number"),
      "m:4:8: extra needs an optional attribute of type string or data; number is of "
        + "type int64"
    ),
    (
      with("extra: mine"),
      "m:4:8: Sample.mine belongs to the user, not to feeds; remove the line"
    ),
    (with("extra: id"), "m:4:8: Sample.id is a system attribute; map to another one"),
    (
      with("attributes: { text: /a }\nextra: text"),
      "m:5:8: text is already in attributes; name another attribute here"
    ),
    (with("extra: [text]"), "m:4:8: expected text, found a sequence"),
    (
      with("attributes: { text: { value: null } }"),
      "m:4:30: a value is not null; remove the line instead"
    ),
    (
      with("attributes: { number: { value: a } }"),
      "m:4:32: expected a whole number such as 42, found \"a\""
    ),
    (
      with("attributes: { state: { at: /s, default: broken } }"),
      "m:4:41: \"broken\" is no case of the enum; its cases are open, shut"
    ),
    (
      with("attributes: { number: { at: /n, default: 1, required: true } }"),
      "m:4:42: default and required exclude each other; remove one of them"
    ),
    (
      with("attributes: { text: { at: /t, duration: clock } }"),
      "m:4:41: a duration becomes a number of seconds; the type is string"
    ),
    (
      with("attributes: { number: { at: /t, duration: clok } }"),
      "m:4:43: unknown form of durations \"clok\"; did you mean \"clock\"?"
    ),
    (
      with("attributes: { number: { at: /t, date: rfc822 } }"),
      "m:4:39: rfc822 is text; the type must be date or string, and is int64"
    ),
    (
      with("attributes: { link: { template: \"https://e.org/{ix}\" } }"),
      "m:1:1: the template of link has {ix}, which is no value of the item; did you mean \"id\"?"
    ),
    (
      with("attributes: { link: { template: \"https://e.org/{id\" } }"),
      "m:4:33: URL template: expected a } that ends this (byte 14)"
    ),
    (
      with("attributes: { day: { at: /d, dat: rfc3339 } }"),
      "m:4:30: the key \"dat\" is unknown; did you mean \"date\"?"
    ),
  ]

  private static func place(_ line: Int, _ column: Int) -> String {
    "m:\(line):\(column): name the source of the value with one of at, path, count, template, value"
  }

  @Test func aPathIsReadWithItsPlace() throws {
    let error = try #require(throws: YAMLError.self) {
      _ = try readMapping("mapping: m\nitems: $.a[\nid: /id")
    }
    #expect(error.line == 2 && error.summary.hasPrefix("JSONPath: "))
  }

  @Test func aFileOfMoreThanItMayHaveIsRefused() throws {
    let long = "mapping: m\nitems: $[*]\nid: /id\n#" + String(repeating: "x", count: 300_000)
    #expect(throws: YAMLError.self) { _ = try readMapping(long) }
  }
}
