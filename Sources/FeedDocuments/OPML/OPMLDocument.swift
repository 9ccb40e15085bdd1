/// The feeds of an OPML document, with the folders around them.
package struct OPMLDocument: Sendable {
  /// An outline with the URL of a feed.
  package struct Feed: Hashable, Sendable {
    package var url: String
    package var title: String?
    /// The titles of the outlines around it, the outermost first, within
    /// ``OPMLDocument/foldersMax`` and ``OPMLDocument/folderBytesMax``.
    package var folder: [String]
    /// The parts of the attribute `category`.
    package var categories: [String]
    /// The line on which the outline begins; 0 if it is not from a document.
    package var line: Int

    package init(
      url: String, title: String? = nil, folder: [String] = [], categories: [String] = [],
      line: Int = 0
    ) {
      self.url = url
      self.title = title
      self.folder = folder
      self.categories = categories
      self.line = line
    }
  }

  /// The bounds of a folder. Each of its feeds repeats the titles: without them a file of some
  /// megabytes would need gigabytes of the store.
  package static let foldersMax = 16
  package static let folderBytesMax = 1_024
  package static let categoriesMax = 32

  package var feeds: [Feed]
  /// The number of outlines that are no feeds and contain no others, and of those with a type that
  /// only the program that has written it can read, such as pages without a feed.
  package var skipped = 0

  package init(feeds: [Feed] = []) { self.feeds = feeds }
}

/// The reason why a file cannot be read as OPML.
package struct OPMLError: Error, CustomStringConvertible {
  /// Nil if the error concerns the whole document.
  package let line: Int?
  /// The problem and the remedy in one line.
  package let description: String

  init(_ description: String, line: Int? = nil) {
    self.description = description
    self.line = line
  }
}

extension OPMLDocument {
  /// Reads a document of OPML 1 or 2, in any encoding that feeds may have.
  ///
  /// Ampersands that begin no reference and control characters are repaired, as in feeds. A
  /// document type is refused, and so is a text with elements that do not match. Nothing is
  /// requested, and no entity is expanded.
  ///
  /// - Complexity: O(length); memory is a small multiple of it.
  package init(reading bytes: [UInt8]) throws(OPMLError) {
    let text = try Self.cleanedText(of: bytes)
    if text.hasDocumentType {
      throw OPMLError("it has a document type, which may define entities; remove the DOCTYPE")
    }
    let builder = try OPMLReader.read(text)
    self.init(feeds: builder.feeds)
    skipped = builder.skipped
    for (index, line) in text.lines(ofOutput: builder.offsets).enumerated() {
      feeds[index].line = line
    }
  }

  private static func cleanedText(of bytes: [UInt8]) throws(OPMLError) -> XMLCleaner {
    do throws(DocumentError) {
      if bytes.isEmpty { throw DocumentError(.empty) }
      // `withUnsafeBytes` cannot throw an error of a known type.
      let text = bytes.withUnsafeBytes { bytes in
        Result { () throws(DocumentError) in try DecodedText(bytes, contentType: nil).bytes }
      }
      return try XMLCleaner.clean(try text.get())
    } catch {
      throw OPMLError("it cannot be read: \(error)")
    }
  }
}
