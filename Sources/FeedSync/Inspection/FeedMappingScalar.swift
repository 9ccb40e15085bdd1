import EntityStore
import SchemaFiles

/// A pointer, a path or a name as a mapping has it: in quotes where a reader might take it for
/// something else.
func feedMappingScalar(_ text: String) -> String {
  let isPlain = text.wholeMatch(of: /[\/$A-Za-z_][A-Za-z0-9_\/.$~-]*/) != nil
  let isWord = ["null", "true", "false", "yes", "no", "on", "off", "~"].contains(text.lowercased())
  return isPlain && !isWord ? text : ConversionFile.quoted(text)
}
