@testable import FeedSync

/// Lends `bytes` with the padding that the parser asks for. The padding is filled with JSON, so
/// that a parser which reads on into it gives itself away.
func withPadding<Value>(
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

func parsePage(_ text: String, contentType: String? = nil) throws(DocumentError) -> FeedPage {
  try parsePage(Array(text.utf8), contentType: contentType)
}

func parsePage(_ bytes: [UInt8], contentType: String? = nil) throws(DocumentError) -> FeedPage {
  try withPadding(bytes) { buffer throws(DocumentError) in
    try FeedPage.parse(buffer, DocumentSource(contentType: contentType), by: homeFeedMappings)
  }
}

/// What the documents of a feed of episodes are read by.
let homeFeedMappings: FeedMappings = {
  do {
    return try FeedMappings(nil, schema: try TestSchema.homeFeed.get(), entity: "Episode")
  } catch {
    fatalError("the migrations of this package cannot be read: \(error)")
  }
}()

/// The error of a document that must not be readable; nil if it is.
func pageError(_ text: String, contentType: String? = nil) -> DocumentError? {
  pageError(Array(text.utf8), contentType: contentType)
}

func pageError(_ bytes: [UInt8], contentType: String? = nil) -> DocumentError? {
  do {
    _ = try parsePage(bytes, contentType: contentType)
    return nil
  } catch {
    return error
  }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
