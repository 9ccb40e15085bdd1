import TextFormats

extension YAMLNode {
  /// The canonical form of the tree, version 1, for checksums.
  ///
  /// Two documents have the same form exactly if they say the same to every reader of text:
  /// comments, spacing, quoting style, block or flow style, key order and line endings leave no
  /// trace. It is one line of UTF-8:
  ///
  ///     form      "yaml/1 " value
  ///     value     null | string | sequence | mapping
  ///     null      null                   a plain `null` or `~`
  ///     string    "…"                    any other scalar, plain or quoted: 5 and "5" are the same
  ///     sequence  [value,value]          in the order of the file
  ///     mapping   {string:value,…}       by the UTF-8 bytes of the keys
  ///
  /// In strings `"` and `\` are escaped by `\`, and the characters below U+0020 are `\u00xx` with
  /// small digits. Nothing else is changed; no Unicode normalization takes place. The form is
  /// frozen: another one gets another number in front.
  ///
  /// - Complexity: O(*n* log *n*) in the size of the tree.
  public var canonical: String {
    var form = "yaml/1 "
    writeCanonical(to: &form)
    return form
  }

  private func writeCanonical(to form: inout String) {
    switch content {
    case .scalar where isNull:
      form += "null"
    case .scalar(let text, _):
      form += JSONLiteral.quoted(text, .canonical)
    case .sequence(let elements):
      form += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { form += "," }
        element.writeCanonical(to: &form)
      }
      form += "]"
    case .mapping(let entries):
      form += "{"
      let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      for (index, entry) in sorted.enumerated() {
        if index > 0 { form += "," }
        form += JSONLiteral.quoted(entry.key, .canonical)
        form += ":"
        entry.value.writeCanonical(to: &form)
      }
      form += "}"
    }
  }
}
