package import FeedDocuments

/// Lends `bytes` with the padding that the parser asks for. The padding is filled with JSON, so
/// that a parser which reads on into it gives itself away.
package func withPadding<Value>(
  _ bytes: some Collection<UInt8>,
  _ body: (UnsafeRawBufferPointer) throws(DocumentError) -> Value
) throws(DocumentError) -> Value {
  let filler = Array("}]}\",1:{[9".utf8)
  var padded = Array(bytes)
  padded.append(contentsOf: (0..<JSONParser.padding).map { filler[$0 % filler.count] })
  let outcome = padded.withUnsafeBytes { buffer in
    Result { () throws(DocumentError) -> Value in
      try body(UnsafeRawBufferPointer(rebasing: buffer.prefix(bytes.count)))
    }
  }
  return try outcome.get()
}
