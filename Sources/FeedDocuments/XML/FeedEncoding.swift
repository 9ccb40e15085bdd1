import CMooringXML
import Glibc

/// The text of a document as UTF-8, and its original encoding.
///
/// The encoding is determined in this order: a byte order mark; UTF-8, if the bytes are valid UTF-8
/// and not all ASCII, which texts in other encodings practically never are; the charset of the
/// Content-Type; the XML declaration. An encoding that fails to decode is skipped, because prologs
/// and headers are often wrong. If all fail, one in which all but a hundredth decodes is used after
/// all. The last resort is windows-1252, in which every byte is a character.
struct DecodedText {
  /// Valid UTF-8 without a byte order mark.
  var bytes: [UInt8]
  var encoding: String
  /// The byte sequences that are no character and became U+FFFD, and an encoding that is not the
  /// declared one.
  var faults = TextFaults()

  /// O(length). Memory: at most three bytes for each of the document's.
  init(_ document: UnsafeRawBufferPointer, contentType: String?) throws(DocumentError) {
    let mark = ByteOrderMark(document)
    let body = UnsafeRawBufferPointer(rebasing: document.dropFirst(mark?.length ?? 0))
    let declared = Self.declaredName(body, mark)
    let charset = contentType.flatMap(Self.charset)
    let text: Decoded
    (text, encoding) = try Self.decode(body, mark, charset, declared)
    bytes = text.bytes
    // UTF-8 is the encoding of a document that declares none (XML 1.0, section 4.3.3).
    let named = [mark?.encoding, charset, declared ?? "utf-8"].compactMap { $0 }
    if text.faults > 0 {
      let first = bytes.firstRange(of: "\u{FFFD}".utf8)?.lowerBound ?? 0
      faults.add("bytes that are no \(encoding)", at: first, count: text.faults)
    } else if !named.contains(where: { (Self.wider[$0] ?? $0) == encoding }),
      try !Self.reads(body, as: declared)
    {
      faults.add(Self.mismatch(declared, encoding), at: 0)
    }
  }

  private static func mismatch(_ declared: String?, _ encoding: String) -> String {
    guard let declared else { return "no encoding is declared, but the text is \(encoding)" }
    guard isKnown(wider[declared] ?? declared) else {
      return "the encoding \(declared.excerpt(40)) is not known; the text was read as \(encoding)"
    }
    return "the encoding is declared as \(declared), but the text is \(encoding)"
  }

  private static func isKnown(_ name: String) -> Bool {
    if ["utf-8", "us-ascii", "windows-1252"].contains(name) { return true }
    guard isAllowed(name) else { return false }
    let converter = iconv_open("UTF-8", name)
    guard converter != iconv_t(bitPattern: -1) else { return false }
    iconv_close(converter)
    return true
  }

  /// Returns true if a parser that believes the declaration does not notice that it is wrong.
  private static func reads(
    _ body: UnsafeRawBufferPointer, as declared: String?
  ) throws(DocumentError) -> Bool {
    guard let declared else { return false }
    if isWide(declared) { return false }
    return try decode(body, from: wider[declared] ?? declared, faultsMax: 0) != nil
  }

  private static func decode(
    _ body: UnsafeRawBufferPointer, _ mark: ByteOrderMark?, _ charset: String?, _ declared: String?
  ) throws(DocumentError) -> (Decoded, encoding: String) {
    if mark == nil || mark?.encoding == "utf-8", !body.contains(0),
      body.contains(where: { $0 >= 0x80 }), String(validating: body, as: UTF8.self) != nil
    {
      return (Decoded(bytes: Array(body)), "utf-8")
    }
    // A declaration that reads as ASCII is not UTF-16 or UTF-32, whatever it names.
    let isWrong = declared.map(isWide) == true && ByteOrderMark.wideDeclaration(body) == nil
    var candidates = [mark?.encoding, charset, isWrong ? nil : declared, "utf-8"]
      .compactMap { $0 }
    // Declarations of these encodings usually mean a superset.
    candidates = candidates.map { wider[$0] ?? $0 }
    // A wide text has a NUL beside each `<`.
    if !body.contains(0) { candidates.removeAll(where: isWide) }
    let faultsMax = body.count / 100 + 1
    var tried: Set<String> = []
    for name in candidates where tried.insert(name).inserted {
      // The first bytes are conclusive even if some later ones are faulty.
      let isShown = isWide(name) && (name == mark?.encoding || name == declared)
      if let text = try decode(body, from: name, faultsMax: isShown ? faultsMax : 0) {
        return (text, name)
      }
    }
    if let text = mostlyUTF8(body) { return (text, "utf-8") }
    for name in candidates where !isWide(name) {
      if let text = try decode(body, from: name, faultsMax: faultsMax), text.isMostlyRight {
        return (text, name)
      }
    }
    return (Decoded(bytes: fromWindows1252(body)), "windows-1252")
  }

  private struct Decoded {
    var bytes: [UInt8]
    var faults = 0

    /// True if more non-ASCII characters were valid than faulty.
    var isMostlyRight: Bool {
      // Each has one byte of 0xC0 and above in UTF-8, and so has each U+FFFD.
      bytes.reduce(0) { $0 + ($1 >= 0xC0 ? 1 : 0) } - faults > faults
    }
  }

  /// Returns true if the characters of the encoding are units of two or four bytes.
  private static func isWide(_ name: String) -> Bool {
    name.hasPrefix("utf-16") || name.hasPrefix("utf-32")
  }

  private static let wider = [
    "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "latin1": "windows-1252",
    "gb2312": "gb18030", "gbk": "gb18030", "utf8": "utf-8", "tis-620": "windows-874",
    "iso-8859-9": "windows-1254", "shift_jis": "windows-31j", "euc-kr": "uhc", "ascii": "us-ascii",
  ]

  // MARK: Names

  /// Returns the charset parameter of a Content-Type, in lower case.
  private static func charset(_ contentType: String) -> String? {
    for parameter in contentType.split(separator: ";").dropFirst() {
      let parts = parameter.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, trimmed(parts[0]).lowercased() == "charset" else { continue }
      let name = trimmed(parts[1]).lowercased()
      return name.isEmpty ? nil : name
    }
    return nil
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let surplus: Set<Character> = [" ", "\t", "\"", "'"]
    let start = text.drop { surplus.contains($0) }
    return start.prefix(start.count - start.reversed().prefix { surplus.contains($0) }.count)
  }

  /// Returns the encoding of the XML declaration before the feed, in lower case; for UTF-16 and
  /// UTF-32 without a mark the one that the first bytes show.
  private static func declaredName(
    _ body: UnsafeRawBufferPointer, _ mark: ByteOrderMark?
  ) -> String? {
    if let mark, mark.encoding != "utf-8" { return nil }
    if let wide = ByteOrderMark.wideDeclaration(body) { return wide }
    let start = UnsafeRawBufferPointer(rebasing: body.prefix(4_096))
    let root = FeedRootTag.offset(in: start) ?? start.count
    guard let first = start[..<root].firstRange(of: "<?xml".utf8)?.lowerBound,
      let end = start[first...].firstIndex(of: Ascii.greater)
    else { return nil }
    let declaration = String(decoding: start[first..<end], as: UTF8.self).lowercased()
    guard let key = declaration.firstRange(of: "encoding") else { return nil }
    let value = declaration[key.upperBound...].drop { $0.isWhitespace || $0 == "=" }
    guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
    let name = String(value.dropFirst().prefix { $0 != quote })
    return name.isEmpty ? nil : name
  }

  // MARK: Decoding

  /// Decodes the text; returns nil if the encoding is unknown or more than `faultsMax` sequences
  /// are invalid in it.
  private static func decode(
    _ body: UnsafeRawBufferPointer, from name: String, faultsMax: Int
  ) throws(DocumentError) -> Decoded? {
    switch name {
    case "utf-8":
      return String(validating: body, as: UTF8.self) == nil ? nil : Decoded(bytes: Array(body))
    case "us-ascii": return body.allSatisfy { $0 < 0x80 } ? Decoded(bytes: Array(body)) : nil
    case "windows-1252": return Decoded(bytes: fromWindows1252(body))
    default: return isAllowed(name) ? try iconv(body, from: name, faultsMax: faultsMax) : nil
    }
  }

  /// Returns true for the families of encodings that feeds use. The C library has hundreds more,
  /// some with decoders that are hardly tested (CVE-2024-2961 was in one); no document may select
  /// those.
  private static func isAllowed(_ name: String) -> Bool {
    let families = [
      "utf-16", "utf-32", "iso-8859-", "iso8859-", "windows-", "cp125", "koi8-", "ibm", "cp037",
      "gb18030", "big5", "euc-jp", "euc-kr", "uhc", "shift", "sjis", "iso-2022-jp", "tis-620",
      "macintosh", "x-sjis",
    ]
    return name.utf8.count <= 24 && families.contains { name.hasPrefix($0) }
      && name.utf8.allSatisfy { isalnum(Int32($0)) != 0 || $0 == 0x2D || $0 == 0x5F }
  }

  /// Decodes the text with the C library. An invalid sequence, or an incomplete one at the end,
  /// becomes U+FFFD.
  private static func iconv(
    _ body: UnsafeRawBufferPointer, from name: String, faultsMax: Int
  ) throws(DocumentError) -> Decoded? {
    let converter = iconv_open("UTF-8", name)
    guard converter != iconv_t(bitPattern: -1) else { return nil }
    defer { iconv_close(converter) }
    let unit = name.hasPrefix("utf-16") ? 2 : name.hasPrefix("utf-32") ? 4 : 1
    var result = Decoded(bytes: [])
    result.bytes.reserveCapacity(body.count + body.count / 2)
    // SAFETY: iconv reads `remaining` bytes of the body, which it does not change, and writes at
    // most `room` bytes of the chunk; both pointers are its own to move.
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { chunk in
      var input = UnsafeMutablePointer<CChar>(
        mutating: body.baseAddress?.assumingMemoryBound(to: CChar.self))
      var remaining = body.count
      while true {
        var output = chunk.baseAddress
        var room = chunk.count
        let outcome = CMooringXML.iconv(converter, &input, &remaining, &output, &room)
        let failure = errno
        result.bytes.append(
          contentsOf: UnsafeRawBufferPointer(
            start: chunk.baseAddress, count: chunk.count - room))
        if outcome >= 0 { return result }
        if failure == E2BIG { continue }
        guard result.faults < faultsMax, remaining > 0 else { return nil }
        result.faults += 1
        result.bytes.append("\u{FFFD}" as Unicode.Scalar)
        let skipped = failure == EINVAL ? remaining : min(unit, remaining)
        input = input?.advanced(by: skipped)
        remaining -= skipped
      }
    }
  }

  /// Decodes a text whose non-ASCII part is mostly UTF-8, such as one that is cut in the middle of
  /// a character. Returns nil if more bytes are faulty than sequences are valid.
  private static func mostlyUTF8(_ body: UnsafeRawBufferPointer) -> Decoded? {
    let text = String(decoding: body, as: UTF8.self)
    var right = 0, faults = 0
    for scalar in text.unicodeScalars where !scalar.isASCII {
      if scalar == "\u{FFFD}" { faults += 1 } else { right += 1 }
    }
    return right > faults ? Decoded(bytes: Array(text.utf8), faults: faults) : nil
  }

  private static func fromWindows1252(_ body: UnsafeRawBufferPointer) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(body.count + body.count / 8)
    for byte in body {
      if byte < 0x80 {
        result.append(byte)
      } else {
        result.append(Windows1252.scalar(UInt32(byte)))
      }
    }
    return result
  }
}

/// The characters of windows-1252 in the place of the control characters of ISO 8859-1.
enum Windows1252 {
  private static let table: [UInt32] = [
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178,
  ]

  /// Returns the character of a byte, or of a reference such as `&#150;`, which means this table.
  static func scalar(_ value: UInt32) -> Unicode.Scalar {
    let mapped = (0x80...0x9F).contains(value) ? table[Int(value - 0x80)] : value
    return Unicode.Scalar(mapped) ?? "\u{FFFD}"
  }
}

extension [UInt8] {
  /// Appends the character in UTF-8.
  mutating func append(_ scalar: Unicode.Scalar) {
    if scalar.isASCII {
      append(UInt8(truncatingIfNeeded: scalar.value))
    } else if let encoded = UTF8.encode(scalar) {
      append(contentsOf: encoded)
    }
  }
}

/// The encoding that the first bytes of a document indicate.
private struct ByteOrderMark {
  var encoding: String
  var length: Int

  init?(_ bytes: UnsafeRawBufferPointer) {
    let marks: [([UInt8], String)] = [
      ([0xEF, 0xBB, 0xBF], "utf-8"), ([0xFF, 0xFE, 0, 0], "utf-32le"),
      ([0, 0, 0xFE, 0xFF], "utf-32be"), ([0xFF, 0xFE], "utf-16le"), ([0xFE, 0xFF], "utf-16be"),
    ]
    guard let (mark, encoding) = marks.first(where: { bytes.starts(with: $0.0) }) else {
      return nil
    }
    (self.encoding, length) = (encoding, mark.count)
  }

  /// Returns the encoding in which the bytes begin with `<?` or with `<` and a letter, if it is not
  /// a superset of ASCII (XML 1.0, appendix F).
  static func wideDeclaration(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.count >= 4 else { return nil }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    case (0x3C, 0, 0, 0): return "utf-32le"
    case (0, 0, 0, 0x3C): return "utf-32be"
    case (0x3C, 0, _, 0): return "utf-16le"
    case (0, 0x3C, 0, _): return "utf-16be"
    case (0x4C, 0x6F, 0xA7, 0x94): return "cp037"
    default: return nil
    }
  }
}
