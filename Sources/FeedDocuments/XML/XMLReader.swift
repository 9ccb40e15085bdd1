import CMooringXML
import Glibc

/// Reads a cleaned document with libxml2 and passes its elements and texts to a builder.
enum XMLReader {
  enum Outcome {
    case wellFormed
    /// The text breaks the rules of XML. libxml2 stopped there or, if `recovering`, continued.
    case malformed
    /// The builder stopped the reading; its `failure` has the reason.
    case stopped
  }

  /// Reads the text without building a tree. O(length); memory is one copy of the text, and the
  /// builder's own.
  ///
  /// - Throws: `.empty`, `.tooLarge`, `.unknownFormat` for a document type, or `.outOfMemory`.
  static func read(
    _ text: [UInt8], recovering: Bool, into builder: inout FeedViewBuilder
  ) throws(DocumentError) -> Outcome {
    guard !text.isEmpty, let length = Int32(exactly: text.count) else {
      throw DocumentError(text.isEmpty ? .empty : .tooLarge)
    }
    _ = initialization
    var events = mooring_xml_events(
      start: startElement, end: endElement, text: characters, fault: addFault)
    let code = withUnsafeMutablePointer(to: &builder) { builder in
      text.withUnsafeBytes { bytes in
        // SAFETY: libxml2 copies the bytes and calls back on this thread before it returns; no
        // other code uses the builder until then.
        mooring_xml_read(
          bytes.baseAddress, length, recovering ? 1 : 0, Int32(XMLLimits.namesMax), &events,
          builder)
      }
    }
    switch code {
    case MOORING_XML_OK: return .wellFormed
    case MOORING_XML_STOPPED: return .stopped
    case MOORING_XML_DOCUMENT_TYPE:
      throw DocumentError(
        .unknownFormat, detail: "found a document type in a place where none is allowed")
    case MOORING_XML_TOO_MANY_NAMES:
      throw DocumentError(
        .tooLarge, detail: "it has more than \(XMLLimits.namesMax) different names in XML")
    case MOORING_XML_NO_MEMORY: throw DocumentError(.outOfMemory)
    default: return .malformed
    }
  }

  /// The initialization of libxml2's tables, which Swift runs once.
  static let initialization: Void = mooring_xml_initialize()
}

private func startElement(
  _ context: UnsafeMutableRawPointer?, _ name: UnsafePointer<UInt8>?,
  _ prefix: UnsafePointer<UInt8>?, _ uri: UnsafePointer<UInt8>?, _ namespaces: Int32,
  _ attributeCount: Int32, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
) -> Int32 {
  // SAFETY: the context is the builder that `read` lent.
  guard let builder = context?.assumingMemoryBound(to: FeedViewBuilder.self), let name else {
    return 0
  }
  let attributes = XMLAttributes(start: attributes, count: Int(attributeCount))
  let isRead = builder.pointee.start(
    name: name, prefix: prefix, uri: uri, namespaces: Int(namespaces), attributes)
  return isRead ? builder.pointee.foundFault == nil ? 1 : 2 : 0
}

private func endElement(_ context: UnsafeMutableRawPointer?) {
  // SAFETY: as above.
  context?.assumingMemoryBound(to: FeedViewBuilder.self).pointee.end()
}

private func characters(
  _ context: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ length: Int32
) -> Int32 {
  // SAFETY: as above; libxml2 lends `length` bytes.
  guard let builder = context?.assumingMemoryBound(to: FeedViewBuilder.self) else { return 0 }
  return builder.pointee.text(UnsafeBufferPointer(start: bytes, count: Int(length))) ? 1 : 0
}

private func addFault(
  _ context: UnsafeMutableRawPointer?, _ offset: Int, _ prefix: UnsafePointer<CChar>?,
  _ message: UnsafePointer<CChar>?
) {
  guard let builder = context?.assumingMemoryBound(to: FeedViewBuilder.self) else { return }
  // SAFETY: as above; the texts end with NUL.
  let reason =
    if let prefix {
      "the prefix \(String(cString: prefix).excerpt()) is not declared"
    } else if let message {
      "a namespace is wrong: \(String(cString: message).trimmed.excerpt(100))"
    } else {
      builder.pointee.takeFoundFault() ?? "the XML is not well-formed"
    }
  builder.pointee.faults.add(reason, at: max(0, offset))
}

/// The attributes of an element, valid during its start event.
struct XMLAttributes: Sequence {
  /// The array of libxml2: five pointers for each attribute.
  let start: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
  let count: Int

  struct Attribute {
    fileprivate let pointers: UnsafeMutablePointer<UnsafePointer<UInt8>?>

    var hasPrefix: Bool { pointers[1] != nil }
    // Namespaces may be as long as the document: they are never copied.
    var hasNamespace: Bool { pointers[2] != nil }
    var name: String { pointers[0].map { String(cString: $0) } ?? "" }
    var value: String {
      guard let start = pointers[3], let end = pointers[4] else { return "" }
      // SAFETY: libxml2 gives the first byte of the value and the one after its last.
      return String(
        decoding: UnsafeBufferPointer(start: start, count: end - start), as: UTF8.self)
    }

    fileprivate func hasName(_ other: StaticString) -> Bool {
      guard let name = pointers[0] else { return false }
      // SAFETY: both end with NUL.
      return strcasecmp(name.cString, other.utf8Start.cString) == 0
    }

    fileprivate func hasURI(_ other: StaticString) -> Bool {
      guard let uri = pointers[2] else { return false }
      // SAFETY: both end with NUL.
      return strcmp(uri.cString, other.utf8Start.cString) == 0
    }
  }

  func makeIterator() -> AnyIterator<Attribute> {
    var index = 0
    return AnyIterator {
      guard let start, index < count else { return nil }
      defer { index += 1 }
      return Attribute(pointers: start + index * 5)
    }
  }

  /// The value of the attribute without a namespace. Names are compared without case.
  subscript(name: StaticString) -> String? {
    first { !$0.hasNamespace && $0.hasName(name) }?.value
  }

  /// The value of the attribute in that namespace.
  subscript(name: StaticString, uri: StaticString) -> String? {
    first { $0.hasURI(uri) && $0.hasName(name) }?.value
  }

  var base: String? { count == 0 ? nil : self["base", "http://www.w3.org/XML/1998/namespace"] }
}

extension UnsafePointer<UInt8> {
  /// True if the text that ends with NUL is short enough for a known namespace.
  var isKnownLength: Bool {
    // SAFETY: no byte after the NUL is read.
    strnlen(cString, XMLLimits.namespaceBytesMax + 1) <= XMLLimits.namespaceBytesMax
  }

  /// The same text, as C's functions take it.
  fileprivate var cString: UnsafePointer<CChar> {
    // SAFETY: both are bytes of one size and alignment.
    UnsafeRawPointer(self).assumingMemoryBound(to: CChar.self)
  }
}
