import EntityModel
import FeedTestSupport
import Foundation
import StrictYAML
import TestSupport
import Testing

@testable import FeedDocuments

/// Members that no line of a mapping reads.
@Suite struct ExtraMembersTests {
  private let head = "mapping: m\nitems: $.items[*]\nid: /id\nextra: text\n"

  private func page(_ item: String, _ more: String = "") throws -> FeedPage {
    try mappedPage("{\"items\":[\(item)]}", by: head + more)
  }

  private func extra(_ item: String, _ more: String = "") throws -> String? {
    try page(item, more).items.first?.values["text"]?.text
  }

  // MARK: What is kept

  @Test func unmappedMembersAreKeptAsJSON() throws {
    let item =
      #"{"id":"a","rank":1,"a":{"b":"x","c":2},"n":null,"_ext":{"y":[true,{}]},"more":"é\n\"\u0001\/"}"#
    let page = try page(item, "known: [rank]\nattributes: { list: /a/b }")
    #expect(
      page.items.first?.values["text"]
        == .string(#"{"_ext":{"y":[true,{}]},"more":"é\n\"\u0001/","n":null}"#))
    #expect(page.drift.unknownMembers == 2 && page.drift.extraLeftOut == 0)
  }

  @Test func numbersKeepTheirDigits() throws {
    let numbers = "[9007199254740993,12345678901234567890,-0,1.50,1e400,0.1E-7]"
    #expect(try extra(#"{"id":1,"n":\#(numbers)}"#) == #"{"n":\#(numbers)}"#)
  }

  @Test func anItemWithoutOtherMembersHasNone() throws {
    #expect(try extra(#"{"id":"a"}"#) == nil)
    #expect(try page(#"{"id":"a","gone":true,"x":1}"#, "deleted: /gone").items[0].fields.isEmpty)
  }

  @Test func attributesOfBytesTakeItToo() throws {
    let page = try mappedPage(
      #"{"items":[{"id":"a","x":1}]}"#, by: head.replacing("text", with: "bytes"))
    #expect(page.items[0].values["bytes"] == .data(Data(#"{"x":1}"#.utf8)))
  }

  @Test func aBuiltInMappingKeepsItWhereTheEntityHasTheAttribute() throws {
    let rss = Array(
      """
      <rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel>
      <title>t</title><item><guid>g</guid><title>One</title><link>https://e.org/1</link>
      <podcast:transcript url="https://e.org/t"/></item></channel></rss>
      """.utf8)
    for (entity, isKept) in [("Note", true), ("Video", false)] {
      let mappings = try FeedMappings(nil, schema: try TestSchema.library.get(), entity: entity)
      let page = try withPadding(rss) { bytes throws(DocumentError) in
        try FeedPage.parse(bytes, DocumentSource(), by: mappings)
      }
      let extra = page.items.first?.values["extra"]?.text
      #expect((extra?.contains("transcript") ?? false) == isKept, "\(extra ?? "nothing")")
    }
  }

  // MARK: One form

  @Test func theLastOfARepeatedNameCounts() throws {
    #expect(
      try extra(#"{"id":1,"b":1,"a":{"x":1,"y":2,"x":3},"b":2}"#) == #"{"a":{"x":3,"y":2},"b":2}"#)
  }

  @Test(
    "The order of members, white space and escapes do not count", arguments: 0..<40 as Range<UInt64>
  )
  func oneForm(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let item = RandomMember.object(&random, depth: 3, names: 12)
    let plain = try page("{\"id\":1,\"w\":\(item.text(nil))}")
    for round in 0..<5 {
      let other = try page("{\"w\":\(item.text(&random)),\"id\":1}")
      #expect(other.items == plain.items, "seed \(seed), round \(round)")
      #expect(other.drift.extraLeftOut == plain.drift.extraLeftOut, "seed \(seed), round \(round)")
    }
  }

  // MARK: Bounds

  @Test(
    "Members beyond the bound are left out, whatever their order",
    arguments: 0..<20 as Range<UInt64>
  )
  func bounds(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let members = (0..<200).map { number in
      let length = Int.random(in: 0...(number % 10 == 0 ? 9_000 : 300), using: &random)
      return "\"m\(number)\":\"\(String(repeating: "x", count: length))\""
    }
    var kept: Set<String> = []
    for round in 0..<3 {
      let shuffled = members.shuffled(using: &random).joined(separator: ",")
      let page = try page("{\"id\":1,\(shuffled)}")
      let text = try #require(page.items.first?.values["text"]?.text)
      #expect(text.utf8.count <= 16_384 && text.utf8.count > 16_000, "seed \(seed)")
      let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String]
      #expect(object?.count == 200 - page.drift.extraLeftOut, "seed \(seed), round \(round)")
      kept.insert(text)
    }
    #expect(kept.count == 1, "seed \(seed)")
  }

  @Test func theBoundIsMetToTheByte() throws {
    for (length, isKept) in [(16_384 - 8, true), (16_384 - 7, false)] {
      let page = try page("{\"id\":1,\"x\":\"\(String(repeating: "y", count: length))\"}")
      #expect((page.items[0].values["text"]?.text.utf8.count == 16_384) == isKept)
      #expect(page.drift.extraLeftOut == (isKept ? 0 : 1))
    }
  }

  @Test func whatTheAttributeAllowsIsABoundToo() throws {
    let attribute = AttributeDescription(
      name: "rest", type: .string, isOptional: true, validation: Validation(maxLength: 12))
    let extra = try #require(ExtraAttribute(attribute))
    try withPadding(Array(#"{"a":1,"b":22222,"c":3}"#.utf8)) { bytes throws(DocumentError) in
      try JSONParser().withValue(bytes) { node throws(DocumentError) in
        let members = extra.keep(node.members)
        #expect(
          members.value == .string(#"{"a":1}"#) || members.value == .string(#"{"a":1,"c":3}"#))
        #expect(members.value?.text.count ?? 0 <= 12)
        #expect(members.leftOut == 2)
      }
    }
  }

  // MARK: Hostile documents

  @Test func hugeMembersAreLeftOutAndTheRestIsKept() throws {
    let long = String(repeating: "x", count: 10 << 20)
    let wide = (0..<300_000).map { "\"m\($0)\":0" }.joined(separator: ",")
    let list = String(repeating: "0,", count: 300_000) + "0"
    let same = String(repeating: "\"x\":[],", count: 300_000) + "\"x\":1"
    let page = try page(
      "{\"id\":1,\"a\":1,\"long\":\"\(long)\",\"wide\":{\(wide)},\"list\":[\(list)],"
        + "\"same\":{\(same)},\"blank\":[\(String(repeating: " ", count: 1 << 20))],\"z\":2}")
    #expect(page.items[0].values["text"]?.text == #"{"a":1,"blank":[],"z":2}"#)
    #expect(page.drift.extraLeftOut == 4)
  }

  @Test func manyMembersAreKeptUpToTheBound() throws {
    let members = (0..<200_000).map { "\"m\($0)\":0" }.shuffled().joined(separator: ",")
    let page = try page("{\"id\":1,\(members)}")
    let text = try #require(page.items.first?.values["text"]?.text)
    #expect(text.hasPrefix(#"{"m0":0,"m1":0,"m10":0"#) && text.utf8.count <= 16_384)
    let kept = text.count { $0 == ":" }
    #expect(page.drift.extraLeftOut == 200_000 - kept)
  }

  @Test func deepNestingIsKeptWithinTheDepthLimit() throws {
    let deep = String(repeating: "{\"a\":[", count: 30) + String(repeating: "]}", count: 30)
    #expect(try extra("{\"id\":1,\"d\":\(deep)}") == "{\"d\":\(deep)}")
    let deeper = String(repeating: "[", count: 5_000) + String(repeating: "]", count: 5_000)
    let page = try page("{\"id\":1,\"d\":\(deeper)},{\"id\":2,\"d\":1}")
    #expect(page.items.map(\.id) == ["2"] && page.rejected.map(\.reason.code) == [.tooDeep])
  }
}

/// Values that can be written in many ways.
private indirect enum RandomMember {
  case scalar(String)
  case string(String)
  case array([RandomMember])
  case object([(String, RandomMember)])

  static func object(_ random: inout SeededRandom, depth: Int, names: Int) -> RandomMember {
    let names = Set((0..<Int.random(in: 0...names, using: &random)).map { _ in string(&random) })
    return .object(names.sorted().map { ($0, value(&random, depth: depth)) })
  }

  private static func value(_ random: inout SeededRandom, depth: Int) -> RandomMember {
    switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &random) {
    case 0: return .scalar(["null", "true", "false"].randomElement(using: &random) ?? "null")
    case 1: return .scalar("\(Int64.random(in: .min ... .max, using: &random))")
    case 2: return .scalar("\(Double.random(in: -1e9...1e9, using: &random))")
    case 3: return .string(string(&random))
    case 4:
      return .array(
        (0..<Int.random(in: 0...4, using: &random)).map { _ in value(&random, depth: depth - 1) })
    default: return object(&random, depth: depth - 1, names: 5)
    }
  }

  private static func string(_ random: inout SeededRandom) -> String {
    let characters = Array("ab\"\\/\n\u{1}é語𝄞")
    return String(
      (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in
        characters.randomElement(using: &random)
      })
  }

  /// - Parameter random: Chooses the form; nil for the plain form with members sorted by name.
  func text(_ random: UnsafeMutablePointer<SeededRandom>?) -> String {
    func space() -> String {
      random.flatMap { ["", " ", "\n\t"].randomElement(using: &$0.pointee) } ?? ""
    }
    switch self {
    case .scalar(let text): return text
    case .string(let text): return quoted(text, random)
    case .array(let elements):
      let texts = elements.map { space() + $0.text(random) }
      return "[" + texts.joined(separator: ",") + space() + "]"
    case .object(var members):
      if let random { members.shuffle(using: &random.pointee) }
      let texts = members.map { space() + quoted($0, random) + space() + ":" + $1.text(random) }
      return "{" + texts.joined(separator: ",") + space() + "}"
    }
  }

  private func quoted(_ text: String, _ random: UnsafeMutablePointer<SeededRandom>?) -> String {
    let units = text.unicodeScalars.map { scalar -> String in
      let mustEscape = scalar == "\"" || scalar == "\\" || scalar.value < 0x20
      guard mustEscape || random.map({ Bool.random(using: &$0.pointee) }) ?? false else {
        return String(scalar)
      }
      return String(scalar).utf16.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    }
    return "\"" + units.joined() + "\""
  }
}
