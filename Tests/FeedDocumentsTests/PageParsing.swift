import FeedTestSupport

@testable import FeedDocuments

func parsePage(_ text: String, contentType: String? = nil) throws(DocumentError) -> FeedPage {
  try parsePage(Array(text.utf8), contentType: contentType)
}

func parsePage(_ bytes: [UInt8], contentType: String? = nil) throws(DocumentError) -> FeedPage {
  try withPadding(bytes) { buffer throws(DocumentError) in
    try FeedPage.parse(buffer, DocumentSource(contentType: contentType), by: homeFeedMappings)
  }
}

/// The mappings of a feed of episodes.
let homeFeedMappings: FeedMappings = {
  do {
    return try FeedMappings(nil, schema: try TestSchema.homeFeed.get(), entity: "Episode")
  } catch {
    fatalError("the migrations of this package cannot be read: \(error)")
  }
}()

/// The error of a document that must not be readable; nil if it is.
func pageError(_ text: String, contentType: String? = nil) -> DocumentError? {
  pageError(Array(text.utf8), contentType: contentType)
}

func pageError(_ bytes: [UInt8], contentType: String? = nil) -> DocumentError? {
  do {
    _ = try parsePage(bytes, contentType: contentType)
    return nil
  } catch {
    return error
  }
}
