import FeedTestSupport

@testable import FeedDocuments

/// Reads a mapping against the library.
func readMapping(_ text: String, entity: String = "Sample") throws -> FeedMapping {
  try FeedMappingFile.read(
    Array(text.utf8), file: "m", schema: try TestSchema.library.get(), entity: entity)
}

/// Reads a document by a mapping of the library.
func mappedPage(
  _ document: String, by mapping: String, entity: String = "Sample",
  _ source: DocumentSource = DocumentSource()
) throws -> FeedPage {
  try mappedPage(Array(document.utf8), by: mapping, entity: entity, source)
}

func mappedPage(
  _ document: [UInt8], by mapping: String, entity: String = "Sample",
  _ source: DocumentSource = DocumentSource()
) throws -> FeedPage {
  let mappings = try FeedMappings(
    FeedMappingText(mapping, file: "m"), schema: try TestSchema.library.get(), entity: entity)
  return try withPadding(document) { bytes throws(DocumentError) in
    try FeedPage.parse(bytes, source, by: mappings)
  }
}
