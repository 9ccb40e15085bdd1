import EntityModel
import UnicodeText

struct KeyCollation: Sendable, Equatable {
  let collation: Collation
  static func of(_ collation: Collation) throws -> KeyCollation? {
    collation == .binary ? nil : KeyCollation(collation: collation)
  }
  func key(of text: UnsafeRawBufferPointer) -> [UInt8] { Array(text) }
  func component(_ text: [UInt8]) -> [UInt8] { text }
}
extension IndexLayout.Part {
  var collation: KeyCollation? { nil }
  var isDecodable: Bool { true }
  var isText: Bool { kind.fixedBytes == nil && kind != .decimal }
}
extension IndexLayout { var isUsable: Bool { true } }
