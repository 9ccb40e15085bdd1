import Foundation

/// The rows in the leaf pages of a file, found page by page and without the importer: which tables
/// they are of is not asked. Of a record that continues on another page only the row id is known.
struct PageWalk {
  /// The row ids with the values as texts, by page.
  private(set) var leaves: [Int: [Int64: [String]?]] = [:]
  let pageSize: Int
  /// The pages of the freelist.
  private(set) var free: Set<Int> = []
  private let bytes: [UInt8]

  init(_ data: Data) {
    bytes = Array(data)
    pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    var trunk = number(at: 32)
    while trunk != 0, trunk * pageSize <= bytes.count {
      let start = (trunk - 1) * pageSize
      free.insert(trunk)
      for leaf in 0..<number(at: start + 4) { free.insert(number(at: start + 8 + 4 * leaf)) }
      trunk = number(at: start)
    }
    for page in 2..<max(2, bytes.count / pageSize + 1) where !free.contains(page) {
      if bytes[(page - 1) * pageSize] == 13 { leaves[page] = rows(on: page) }
    }
  }

  /// All rows, by row id, for files in which no two tables share row ids.
  var rows: [Int64: [String]?] {
    leaves.values.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
  }

  private func number(at place: Int) -> Int {
    bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
  }

  private func rows(on page: Int) -> [Int64: [String]?] {
    let start = (page - 1) * pageSize
    var rows: [Int64: [String]?] = [:]
    for cell in 0..<(Int(bytes[start + 3]) << 8 | Int(bytes[start + 4])) {
      let pointer = start + 8 + 2 * cell
      var place = start + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
      let size = varint(&place)
      let id = varint(&place)
      rows[id] = .some(size > Int64(pageSize - 35) ? nil : values(at: place))
    }
    return rows
  }

  private func varint(_ place: inout Int) -> Int64 {
    var value: UInt64 = 0
    for count in 1...9 {
      let byte = UInt64(bytes[place])
      place += 1
      if count == 9 { return Int64(bitPattern: value << 8 | byte) }
      value = value << 7 | byte & 127
      if byte < 128 { break }
    }
    return Int64(bitPattern: value)
  }

  private func values(at start: Int) -> [String] {
    var head = start
    let end = start + Int(varint(&head))
    var body = end
    var values: [String] = []
    while head < end {
      let type = varint(&head)
      switch type {
      case 0: values.append("null")
      case 1...6:
        let count = [0, 1, 2, 3, 4, 6, 8][Int(type)]
        let sign: Int64 = bytes[body] < 128 ? 0 : -1
        values.append(String(bytes[body..<(body + count)].reduce(sign) { $0 << 8 | Int64($1) }))
        body += count
      case 8, 9: values.append(String(type - 8))
      case 12...:
        let count = Int(type - 12) / 2
        values.append(String(decoding: bytes[body..<(body + count)], as: UTF8.self))
        body += count
      default: values.append("number")
      }
    }
    return values
  }
}
