import EntityStore
import Foundation
import LMDB
import SystemSupport

/// A value that a closure passes to the test.
final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}

func bytes(of path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

/// Overwrites the header of every page with a long title, which leaves the catalog readable.
func damageLeaves(of folder: String) throws {
  let path = DataFile.path(in: folder)
  var data = try bytes(of: path)
  let title = Data(repeating: UInt8(ascii: "t"), count: 64)
  // A page of the tree of trees may hold an old title between its entries.
  let treeName = Data("history".utf8)
  for start in stride(from: 0, to: data.count, by: 4096) {
    let page = data[start..<start + 4096]
    guard page.range(of: title) != nil, page.range(of: treeName) == nil else { continue }
    data.replaceSubrange(start..<start + 16, with: Data(repeating: 0x5A, count: 16))
  }
  try data.write(to: URL(fileURLWithPath: path))
}
