import EntityModel
import EntityStore
import FeedDocuments
import FeedTestSupport
import Foundation
import HomeFeed
import Migrations
import Testing

@testable import FeedSync

/// Inspects the response of a scripted server.
func inspect(
  _ document: [UInt8], contentType: String = "application/json", entity: String = "Episode",
  headers: [(String, String)] = []
) async throws -> FeedInspection {
  let transport = ScriptedTransport()
  transport.script(
    "https://api.example/v1/talks",
    .response(
      status: 200, headers: [("Content-Type", contentType)] + headers, body: document))
  let inspector = try FeedInspector(
    transport: transport, lines: try MigrationLine.load([.homeFeed]),
    now: Date(timeIntervalSince1970: 1_795_168_800))
  return try await inspector.inspect(.init(url: "https://api.example/v1/talks", entity: entity))
}

func inspect(_ text: String, entity: String = "Episode") async throws -> FeedInspection {
  try await inspect(Array(text.utf8), entity: entity)
}

/// Reads the document by what was suggested for it, against a schema that has had the migration.
func suggestedPage(
  of document: [UInt8], by inspection: FeedInspection, isWhole: Bool = true
) throws -> FeedPage {
  var sources = [MigrationSource.homeFeed]
  if isWhole, let migration = inspection.migration {
    sources.append(MigrationSource(embedded: [("0001_suggested", Array(migration.utf8))]))
  }
  let text = try #require(isWhole ? inspection.wholeMapping : inspection.mapping)
  let mappings = try FeedMappings(
    FeedMappingText(text, file: "suggested.yaml"),
    schema: try Schema(of: MigrationLine.load(sources)),
    entity: inspection.entity)
  var source = DocumentSource()
  source.url = "https://api.example/v1/talks"
  return try withPadding(document) { bytes throws(DocumentError) in
    try FeedPage.parse(bytes, source, by: mappings)
  }
}
