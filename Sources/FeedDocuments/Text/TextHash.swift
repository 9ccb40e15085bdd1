import CMooringXXHash

/// The hash by which texts are recognized as unchanged: XXH3, 64 bits, stable across versions.
enum TextHash {
  static func of(_ text: String) -> Int64 {
    var text = text
    return text.withUTF8 { Int64(bitPattern: mooring_xxh3_64($0.baseAddress, $0.count)) }
  }
}
