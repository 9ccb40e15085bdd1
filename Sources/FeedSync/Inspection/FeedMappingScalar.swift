import EntityStore

/// Returns a pointer, path or name for a mapping, quoted if it could be misread.
func feedMappingScalar(_ text: String) -> String {
  let isPlain = text.wholeMatch(of: /[\/$A-Za-z_][A-Za-z0-9_\/.$~-]*/) != nil
  let isWord = ["null", "true", "false", "yes", "no", "on", "off", "~"].contains(text.lowercased())
  return isPlain && !isWord ? text : ConversionFile.quoted(text)
}
