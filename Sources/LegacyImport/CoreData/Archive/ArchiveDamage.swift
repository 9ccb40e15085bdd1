/// Why compressed or archived bytes of a legacy file cannot be read. One line, for people.
package struct ArchiveDamage: Error, Equatable, Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }
}
