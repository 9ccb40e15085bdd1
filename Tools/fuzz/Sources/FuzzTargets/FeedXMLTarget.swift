@testable import FeedDocuments

/// Reads the bytes as a feed, or an error with one of the codes of a document. The view of a feed
/// is JSON that the parser accepts, within its bound, with the reported number of items.
@_cdecl("fuzz_feed_xml")
public func fuzzFeedXML(_ bytes: UnsafePointer<UInt8>?, _ count: Int) {
  // SAFETY: libFuzzer keeps the `count` bytes until this returns.
  let document = UnsafeRawBufferPointer(start: bytes, count: count)
  let view: FeedView
  do {
    view = try FeedView.read(document, contentType: nil, baseURL: "http://example.org/a/b.xml")
  } catch {
    let codes: [DocumentError.Code] = [
      .unknownFormat, .htmlPage, .misplacedItems, .truncated, .empty, .tooLarge, .tooDeep,
    ]
    guard codes.contains(error.code) else {
      fatalError("another error than of the document: \(error)")
    }
    return
  }
  let isOneLine = view.firstFault?.contains("\n") != true
  guard isOneLine, (view.faults > 0) == (view.firstFault != nil) else {
    fatalError("\(view.faults) faults, the first of them \(view.firstFault ?? "unknown")")
  }
  do {
    let parser = try JSONParser()
    try view.json.withUnsafeBytes { json throws(DocumentError) in
      try parser.withDocument(json) { document throws(DocumentError) in
        for member in document.members {
          try document.withValue(of: member) { _ throws(DocumentError) in }
          if member.name == "items", member.elementIndices.count != view.itemCount {
            fatalError("\(member.elementIndices.count) items, not \(view.itemCount)")
          }
        }
      }
    }
  } catch {
    fatalError("the view is no JSON: \(error)")
  }
}
