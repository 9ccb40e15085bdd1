import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

/// Faults are counted for everything that an XML parser refuses, and for nothing else.
@Suite struct FaultCountTests {
  @Test(arguments: [
    ("<item><title>a & b</title></item>", "line 2: & begins no reference"),
    ("\n<item><title>&nbsp;</title></item>", "line 3: &nbsp; is not defined"),
    ("<item><title>&#X41;</title></item>", "line 2: &#X is not written as &#x"),
    (
      "<item><title>&#0;</title></item>",
      "line 2: a reference to a character that XML does not allow"
    ),
    ("<item><title>\u{8}</title></item>", "line 2: a control character is not allowed"),
    ("<item><title>a ]]> b</title></item>", "line 2: ]]> ends nothing"),
    ("<item><title>1 < 2</title></item>", "line 2: < begins no tag"),
    ("<!-- \n\n --><item/><!-- a -- b -->", "line 4: a comment with -- in it is not allowed"),
    ("<item/><!-->", "line 2: a comment with -- in it is not allowed"),
    ("<item/><?xml version='1.0'?>", "line 2: the XML declaration is not at the start"),
    ("<item/><? php ?>", "line 2: <? is not followed by a name"),
    ("<item/><?a$?>", "line 2: <? is not followed by a name"),
    ("<ite<!-- -->m/>", "line 2: a tag has no end"),
    ("<item/><!ELEMENT a>", "line 2: <! begins no comment and no CDATA section"),
    ("<item>\n<dc:date>2026</dc:date></item>", "line 3: the prefix dc is not declared"),
    ("<item x:a='1'/>", "line 2: the prefix x is not declared"),
    (
      "<item xmlns:x=''/>",
      "line 2: a namespace is wrong: xmlns:x: Empty XML namespace is not allowed"
    ),
    (
      "<item><link a=1></link></item>",
      "line 2: an attribute of <link> is not written as name=\"value\""
    ),
    ("<item><link a='1' a='2'/></item>", "line 2: <link> has a twice"),
    ("<item><b>\n</item>", "line 2: <b> is not closed"),
    ("<item>\n</b></item>", "line 3: </b> ends no element"),
    ("<!--\n\n--><item>\n<b></item>", "line 5: <b> is not closed"),
  ])
  func eachFaultIsCountedWithItsLine(_ content: String, _ fault: String) throws {
    let view = try ReadView(rss(content)).view
    #expect(view.firstFault == fault)
    #expect(view.faults == 1)
    #expect(view.itemCount == 1)
  }

  @Test(arguments: [
    ("<?xml encoding='utf-8'?>", "line 1: the XML declaration is not written correctly"),
    ("<?xml version=1.0?>", "line 1: the XML declaration is not written correctly"),
    ("<?xml version='1.0'>", "line 1: the XML declaration is not written correctly"),
    (
      "<?xml version='1.0' encoding='x-fake'?>",
      "line 1: the encoding x-fake is not known; the text was read as utf-8"
    ),
    ("\n<!doctype rss>", "line 2: the document type is not written correctly"),
    ("<!DOCTYPE rss?>", "line 1: the document type is not written correctly"),
    ("<!-- a", nil),
  ])
  func faultsOfThePrologAreCounted(_ prolog: String, _ fault: String?) throws {
    let document = prolog + "<rss><channel><item/></channel></rss>"
    guard let fault else {
      #expect(refusal(document)?.code == .unknownFormat)
      return
    }
    let view = try ReadView(document).view
    #expect(view.firstFault == fault)
    #expect(view.faults == 1 && view.itemCount == 1)
  }

  @Test(arguments: [
    "<?xml version='1.0' encoding=\"ISO-8859-1\" standalone = 'yes' ?>\n",
    "<!-- a --><?xml-style b?>",
    "<!DOCTYPE rss PUBLIC \"-//N//DTD RSS 0.91//EN\" \"http://e.org/rss.dtd\">", "\n\n",
    "<!DOCTYPE rss [<!ENTITY eacute 'x'>]>", "\u{FEFF}",
  ])
  func wellFormedDocumentsHaveNoFault(_ prolog: String) throws {
    let entity = prolog.contains("DOCTYPE") ? "&eacute;" : "&#233;"
    let view = try ReadView(
      prolog
        + "<rss xmlns:a='urn:a' xmlns:b='no URI'><channel><item><title a:b='>'>\(entity)&amp;<![CDATA[<&]]></title>"
        + "<?php echo ?><!-- - --></item></channel></rss>\n<!---->"
    ).view
    #expect(view.faults == 0 && view.firstFault == nil)
  }

  @Test func anEncodingThatIsNotTheDeclaredOneIsAFault() throws {
    func fault(_ declaration: String, _ title: [UInt8]) throws -> String? {
      let text = Array("\(declaration)<rss><channel><title>".utf8)
      return try ReadView(text + title + Array("</title></channel></rss>".utf8)).view.firstFault
    }
    let latin: [UInt8] = [0xE9, 0x20]
    #expect(
      try fault("<?xml version='1.0' encoding='mac-cyrillic'?>", latin)
        == "line 1: the encoding mac-cyrillic is not known; the text was read as windows-1252")
    #expect(try fault("", latin) == "line 1: no encoding is declared, but the text is windows-1252")
    #expect(try fault("<?xml version='1.0' encoding='iso-8859-1'?>", latin) == nil)
    #expect(try fault("<?xml version='1.0' encoding='iso-8859-1'?>", Array("é".utf8)) == nil)
    #expect(try fault("<?xml version='1.0' encoding='utf-16'?>", Array("é".utf8)) != nil)
    let cut = Array("\nЯЯ".utf8) + [0xD0]
    #expect(try fault("", cut) == "line 2: bytes that are no utf-8")
  }

  @Test func theFaultIsShortAndHasNoHiddenCharacters() throws {
    let name = String(repeating: "x", count: 5_000)
    let read = try ReadView("<rss><channel><item><\(name):a/></item></channel></rss>")
    let fault = try #require(read.view.firstFault)
    #expect(fault.count < 140)
    let text = try ReadView("<rss><channel><item><\u{202E}b:a/></item></channel></rss>")
    #expect(text.view.firstFault?.contains("\u{202E}") == false)
  }

  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func allIllFormedDocumentsOfOthersAndNoneElseHaveFaults() throws {
    /// The text of these is sound: wrong is the label of the response, or they use names that a
    /// document type outside of them may define.
    let sound: Set = [
      "bozo_http_i18n.xml", "bozo_http_text_plain_charset.xml", "rss91n_deprecated.xml",
      "rss91n_entity.xml",
    ]
    var counts = [true: 0, false: 0]
    for expected in try FeedCorpora.expectations(of: "xml") {
      let bytes = try FeedCorpora.bytes(of: expected.file)
      guard let view = try? ReadView(bytes, contentType: expected.contentType).view else {
        continue  // It is no feed.
      }
      let name = expected.file.split(separator: "/").last.map(String.init) ?? ""
      let isIllFormed = expected.isIllFormed && !sound.contains(name)
      #expect(
        (view.faults > 0) == isIllFormed, "\(expected.file): \(view.firstFault ?? "no fault")")
      #expect((view.firstFault != nil) == (view.faults > 0), "\(expected.file)")
      counts[isIllFormed, default: 0] += 1
    }
    #expect(counts[true, default: 0] > 150 && counts[false, default: 0] > 2_000, "\(counts)")
  }
}
