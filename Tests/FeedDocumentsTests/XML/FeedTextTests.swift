import Foundation
import Testing

@testable import FeedDocuments

@Suite struct FeedEncodingTests {
  private func title(
    _ text: String, _ encoding: String.Encoding, declared: String? = nil,
    contentType: String? = nil,
    mark: [UInt8] = []
  ) throws -> (String?, String) {
    let declaration = declared.map { "<?xml version=\"1.0\" encoding=\"\($0)\"?>" } ?? ""
    let document = declaration + "<rss><channel><title>\(text)</title></channel></rss>"
    let data = try #require(document.data(using: encoding))
    let read = try ReadView(mark + Array(data), contentType: contentType)
    return (read["title"], read.view.encoding)
  }

  @Test func readsDeclaredEncodings() throws {
    #expect(try title("Café", .isoLatin1, declared: "iso-8859-1") == ("Café", "windows-1252"))
    #expect(
      try title("Вести", .windowsCP1251, declared: "windows-1251") == ("Вести", "windows-1251"))
    #expect(try title("日本", .shiftJIS, declared: "Shift_JIS").0 == "日本")
    let japanese: [UInt8] = [0xC6, 0xFC, 0xCB, 0xDC]
    let read = try ReadView(
      Array("<?xml version='1.0' encoding='EUC-JP'?><rss><channel><title>".utf8) + japanese
        + Array("</title></channel></rss>".utf8))
    #expect(read["title"] == "日本")
  }

  @Test func theContentTypeTakesPrecedenceOverTheDeclaration() throws {
    let read = try title(
      "Вести", .windowsCP1251, declared: "iso-8859-1",
      contentType: "text/xml; charset=\"windows-1251\"")
    #expect(read == ("Вести", "windows-1251"))
  }

  @Test func readsUTF16WithAndWithoutAMark() throws {
    #expect(try title("Café", .utf16LittleEndian, declared: "utf-16").0 == "Café")
    #expect(try title("Café", .utf16BigEndian, mark: [0xFE, 0xFF]) == ("Café", "utf-16be"))
    #expect(try title("Café", .utf32LittleEndian, declared: "utf-32").0 == "Café")
  }

  @Test func wrongPrologsDoNotPreventUTF8() throws {
    #expect(try title("Café", .utf8, declared: "windows-1252") == ("Café", "utf-8"))
    #expect(try title("Café", .utf8, declared: "utf-16").0 == "Café")
    #expect(try title("Cafe", .utf8, declared: "x-nonsense").0 == "Cafe")
  }

  @Test func bytesThatAreInvalidInTheDeclaredEncodingAreWindows1252() throws {
    #expect(try title("Café", .isoLatin1, declared: "utf-8") == ("Café", "windows-1252"))
    #expect(try title("Café", .isoLatin1, declared: "us-ascii").0 == "Café")
  }

  @Test func oneWrongByteDoesNotSpoilTheRest() throws {
    let bytes = Array("<rss><channel><title>Café Привет".utf8) + [0xE9]
    let read = try ReadView(bytes + Array("</title></channel></rss>".utf8))
    #expect(read["title"] == "Café Привет\u{FFFD}")
    #expect(read.view.faults == 1)
  }

  @Test(arguments: [
    ("shift_jis", String.Encoding.shiftJIS, [0x80 as UInt8]),
    ("gb18030", String.Encoding(rawValue: 0x8000_0632), [0xFF]),
    ("windows-1251", .windowsCP1251, [0x98]), ("utf-16", .utf16LittleEndian, [0x00, 0xDC]),
    ("utf-16", .utf16BigEndian, [0xDC, 0x00]),
  ])
  func oneWrongSequenceDoesNotSpoilOtherEncodings(
    _ name: String, _ encoding: String.Encoding, _ wrong: [UInt8]
  ) throws {
    let words = String(repeating: name == "windows-1251" ? "Вести " : "日本語 ", count: 50)
    func bytes(_ text: String) throws -> [UInt8] { Array(try #require(text.data(using: encoding))) }
    let start = try bytes(
      "<?xml version=\"1.0\" encoding=\"\(name)\"?><rss><channel><title>\(words)")
    let end = try bytes("</title></channel></rss>")
    let read = try ReadView(start + wrong + end)
    #expect(read["title"] == words + "\u{FFFD}")
    #expect(read.view.faults == 1)
    // A cut inside of a character.
    let item = try bytes("</title><item><title>A</title></item><item><title>\(words)")
    let cut = try ReadView((start + item).dropLast(2))
    #expect(cut["title"] == words.trimmingCharacters(in: .whitespaces))
    #expect(cut["items/0/title"] == "A")
  }

  @Test func oneByteInAHundredMayBeInvalidAndNotMore() throws {
    func read(_ title: [UInt8]) throws -> ReadView {
      let start = "<?xml version='1.0' encoding='EUC-JP'?><rss><channel><title>"
      return try ReadView(Array(start.utf8) + title + Array("</title></channel></rss>".utf8))
    }
    let sun: [UInt8] = [0xC6, 0xFC]
    let few = try read((0..<50).flatMap { _ in sun } + [0xFF])
    #expect(few["title"] == String(repeating: "日", count: 50) + "\u{FFFD}")
    let many = try read((0..<50).flatMap { _ in sun + [0xFF] })
    #expect(many.view.encoding == "windows-1252")
  }

  @Test func textThatIsNotWideIsNotReadAsWide() throws {
    #expect(
      try title("Cafe1", .utf8, contentType: "text/xml; charset=utf-16") == ("Cafe1", "utf-8"))
    #expect(
      try title("Cafe", .utf8, contentType: "text/xml; charset=utf-16") == ("Cafe", "utf-8"))
  }

  @Test func unusedDecodersAreNotOffered() throws {
    #expect(try title("Café", .isoLatin1, declared: "iso-2022-cn-ext").1 == "windows-1252")
    #expect(try title("Café", .isoLatin1, declared: "latin1//TRANSLIT").1 == "windows-1252")
  }
}

@Suite struct FeedDateTests {
  @Test(arguments: [
    ("Fri, 20 Nov 2026 10:00:00 GMT", "2026-11-20T10:00:00Z"),
    ("20 November 2026 10:00 EST", "2026-11-20T15:00:00Z"),
    ("Friday, Nov 20 2026 10:00:00 +0100", "2026-11-20T09:00:00Z"),
    ("Fri,20 Nov 2026 10:00:00 GMT-05:00", "2026-11-20T15:00:00Z"),
    ("Thu, 01 Jan 04 19:48:21 GMT", "2004-01-01T19:48:21Z"),
    ("Fri, 20 Nov 2026", "2026-11-20T00:00:00Z"),
    ("2026-11-20T10:00:00.5+08:00", "2026-11-20T02:00:00.5Z"),
    ("2026-11-20T10:00+0800", "2026-11-20T02:00:00Z"),
    ("2026-11-20 10:00:00", "2026-11-20T10:00:00Z"), ("2026-11-20", "2026-11-20T00:00:00Z"),
    ("2026-11", "2026-11-01T00:00:00Z"), ("2026", "2026-01-01T00:00:00Z"),
    ("2003-06-31T15:51:30-05:00", "2003-07-01T20:51:30Z"),
    ("20031231", "2003-12-31T00:00:00Z"), ("2003-365", "2003-12-31T00:00:00Z"),
    ("Sun Jan 4 16:29:06 2004", "2004-01-04T16:29:06Z"),
    ("Fri, 2006/09/15 08:19:53 EDT", "2006-09-15T12:19:53Z"),
    ("2020/1/10 14:33:00", "2020-01-10T14:33:00Z"),
    ("Κυρ, 11 Ιούλ 2004 12:00:00 EST", "2004-07-11T17:00:00Z"),
    ("2004-július-13T9:15-03:00", "2004-07-13T12:15:00Z"),
    ("2004-05-25 오후 11:16:57", "2004-05-25T14:16:57Z"),
    ("2004년 05월 28일  01:31:15", "2004-05-27T16:31:15Z"),
    ("2004-05-25 오전 12:16:57", "2004-05-24T15:16:57Z"),
    ("2018-01-06T08:00", "2018-01-06T08:00:00Z"),
    ("2018-01-06T08:00:00-0700", "2018-01-06T15:00:00Z"),
  ])
  func readsWhatFeedsWrite(_ text: String, _ expected: String) {
    #expect(FeedDate.rfc3339(text) == expected)
  }

  @Test(arguments: [
    ("Friday, January 29, 2021 04:42 PM", "2021-01-29T16:42:00Z"),
    ("Fri, 29 Jan 2021 4:42pm", "2021-01-29T16:42:00Z"),
    ("29 Jan 2021 04:42:10 P.M. EST", "2021-01-29T21:42:10Z"),
    ("29 Jan 2021 12:05 AM", "2021-01-29T00:05:00Z"),
    ("29 Jan 2021 12:05 PM +0100", "2021-01-29T11:05:00Z"),
    ("January 29, 2021, 9:05 a.m.", "2021-01-29T09:05:00Z"),
    ("Jan 29 2021 13:05 PM", "2021-01-29T13:05:00Z"),
    ("2021-01-29 04:42 PM", "2021-01-29T16:42:00Z"),
    ("2021-01-29T04:42:10.5PM+01:00", "2021-01-29T15:42:10.5Z"),
    ("Fri, 2021/01/29 04:42 PM EST", "2021-01-29T21:42:00Z"),
    ("Fri Jan 29 04:42:00 PM 2021", "2021-01-29T16:42:00Z"),
    ("Fri Jan 29 04:42:00 PM UTC 2021", "2021-01-29T16:42:00Z"),
    ("29 Jan 2021 4 PM", "2021-01-29T16:00:00Z"),
    ("20210129T04:42PM", "2021-01-29T16:42:00Z"),
  ])
  func readsClocksOf12Hours(_ text: String, _ expected: String) {
    #expect(FeedDate.rfc3339(text) == expected)
  }

  @Test(arguments: [
    "", "yesterday", "Tomorrow at noon", "pm", "Jan 29 2021 pm 4 am pm", "0000-01-01T00:00:00Z",
    "31 Jun 2003 10:00:00 GMT", "Fri, 99 Nov 2026", "2026-99-99T00:00:00Z",
    "99999999999999999999", "-", "::", "T", "0000-00-00 00:00:00",
    String(repeating: "1", count: 1_000),
  ])
  func refusesWhatIsNoDate(_ text: String) {
    #expect(FeedDate.rfc3339(text) == nil)
  }
}

@Suite struct URLReferenceTests {
  /// RFC 3986, section 5.4.
  @Test(arguments: [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"),
    (";x", "http://a/b/c/;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), (" g\n", "http://a/b/c/g"),
  ])
  func resolves(_ reference: String, _ expected: String) {
    #expect(URLReference.resolve(reference, base: "http://a/b/c/d;p?q") == expected)
  }

  @Test func keepsAReferenceWithoutABase() {
    #expect(URLReference.resolve("/a?b", base: "") == "/a?b")
    #expect(URLReference.resolve("a", base: "http://e.org") == "http://e.org/a")
  }
}

@Suite struct HTMLTextTests {
  @Test(arguments: [
    ("<b>a</b> &amp; b", "a & b"), ("a<script>x<y</script>b", "ab"), ("1 < 2", "1 < 2"),
    ("<!-- <b>x</b> -->y", "y"), ("a &#8211; b", "a – b"), ("<a title=\">\">x</a>", "x"),
    ("&copy; &nope;", "© &nope;"), ("a <b", "a <b"),
  ])
  func plainTextHasNoTags(_ html: String, _ plain: String) {
    #expect(HTMLText.plain(html) == plain)
  }

  @Test func linksBecomeAbsolute() {
    let html = #"<A HREF='b?x=1&amp;y=2'>x</A><img alt="src=z" src=i.png><a href="mailto:x">"#
    var bytesLeft = 1_000
    let resolved = HTMLText.resolvingLinks(
      Array(html.utf8), base: URLReference.Base("http://e.org/a/"), bytesLeft: &bytesLeft)
    #expect(
      String(decoding: resolved, as: UTF8.self)
        == #"<A HREF='http://e.org/a/b?x=1&amp;y=2'>x</A>"#
        + #"<img alt="src=z" src=http://e.org/a/i.png><a href="mailto:x">"#)
  }

  @Test(arguments: [
    ("<b>a</b>", true), ("a &amp; b", true), ("a <foo> b</foo>", false), ("a < b", false),
  ])
  func distinguishesMarkupFromText(_ text: String, _ isHTML: Bool) {
    #expect(HTMLText.looksLikeHTML(text) == isHTML)
  }
}
