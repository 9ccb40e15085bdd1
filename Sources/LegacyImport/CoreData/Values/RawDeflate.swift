import CMooringZlib

/// The reason why compressed or archived bytes of a legacy file cannot be read.
package struct ArchiveDamage: Error, Equatable, Sendable {
  /// One line, for people.
  package let text: String

  package init(_ text: String) { self.text = text }
}

/// Reads DEFLATE without header and checksum, the form in which Core Data stores its model.
package enum RawDeflate {
  private static let chunkBytes = 64 << 10

  /// Inflates all of the bytes.
  ///
  /// - Throws: What is wrong with them: broken, cut, followed by something else, or longer than
  ///   `Limits.inflatedBytesMax` when inflated, of which no more is then in memory.
  package static func inflated(
    _ bytes: [UInt8], limit: Int = Limits.inflatedBytesMax
  ) throws(ArchiveDamage) -> [UInt8] {
    guard let count = UInt32(exactly: bytes.count) else { throw ArchiveDamage("it is too long") }
    var stream = z_stream()
    guard mooring_inflate_raw_init(&stream) == Z_OK else {
      throw ArchiveDamage("there is no memory to inflate it")
    }
    defer { inflateEnd(&stream) }
    var input = bytes
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: chunkBytes)
    // SAFETY: zlib reads and writes only within the two buffers, whose sizes are passed to it, and
    // both stay in place until the closures end; after that the stream is only freed.
    let failure: ArchiveDamage? = input.withUnsafeMutableBufferPointer { input in
      chunk.withUnsafeMutableBufferPointer { chunk in
        stream.next_in = input.baseAddress
        stream.avail_in = count
        while true {
          stream.next_out = chunk.baseAddress
          stream.avail_out = UInt32(chunk.count)
          let status = inflate(&stream, Z_NO_FLUSH)
          guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
            return ArchiveDamage("it is no DEFLATE")
          }
          let produced = chunk.count - Int(stream.avail_out)
          guard produced <= limit - output.count else {
            return ArchiveDamage("it inflates to more than \(limit) bytes")
          }
          output.append(contentsOf: chunk[..<produced])
          if status == Z_STREAM_END {
            return stream.avail_in == 0 ? nil : ArchiveDamage("something follows its end")
          }
          if produced == 0 { return ArchiveDamage("its end is missing") }
        }
      }
    }
    if let failure { throw failure }
    return output
  }
}
