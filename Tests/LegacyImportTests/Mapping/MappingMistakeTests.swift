import LegacyImport
import StrictYAML
import Testing

@Suite struct MappingMistakeTests {
  private static let mistakes =
    fileMistakes + attributeMistakes + valueMistakes + relationshipMistakes

  @Test("The error of each mistake names its place and gives advice", arguments: mistakes)
  func mistake(text: String, message: String) throws {
    let schema = try MappedSchema.podcasts()
    do {
      _ = try MappingFile.read(Array(text.utf8), file: "m", schema: schema)
      Issue.record("read without an error: \(text)")
    } catch let error as YAMLError {
      #expect(error.description == "\(message); \(MappingFile.reference)")
    }
  }
}
