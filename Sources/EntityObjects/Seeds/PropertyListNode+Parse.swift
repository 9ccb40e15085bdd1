import EntityStore
import Foundation

extension PropertyListNode {
  /// Reads a property list, XML or binary.
  ///
  /// - Throws: `seed`.
  static func parse(_ data: Data, file: String) throws -> PropertyListNode {
    do throws(BinaryPropertyList.Damage) {
      if let content = try BinaryPropertyList.content(of: Array(data)) {
        return PropertyListNode(content: content, file: file)
      }
    } catch {
      throw StoreError.seed(at: .path(file), "this is not a valid property list: \(error.text)")
    }
    var format = PropertyListSerialization.PropertyListFormat.xml
    let root: Any
    do {
      root = try PropertyListSerialization.propertyList(from: data, options: [], format: &format)
    } catch {
      throw StoreError.seed(
        at: .path(file), "this is not a property list: \(reason(of: error))")
    }
    guard format == .xml else {
      throw StoreError.seed(at: .path(file), "write the property list as XML or binary")
    }
    return PropertyListNode(content: try Conversion(file: file).content(root), file: file)
  }

  private static func reason(of error: any Error) -> String {
    let information = (error as NSError).userInfo
    return information[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
  }
}

/// Converts the values that Foundation has read. Values that are nested too deeply are refused.
private struct Conversion {
  let file: String

  func content(_ value: Any) throws -> PropertyListNode.Content {
    // A number can be cast to a Boolean and the reverse, so the type itself is compared.
    if type(of: value) == Bool.self, let flag = value as? Bool { return .bool(flag) }
    switch value {
    case let text as String: return .string(text)
    case let date as Date: return .date(date)
    case let data as Data: return .data(data)
    case let number as NSNumber: return try content(number)
    case let elements as [Any]: return .array(try elements.map { try content($0) })
    case let entries as [String: Any]: return .dictionary(try entries.mapValues { try content($0) })
    default: throw refusal("it holds a value of a kind that no attribute has")
    }
  }

  private func content(_ number: NSNumber) throws -> PropertyListNode.Content {
    let floats = [UInt8(ascii: "d"), UInt8(ascii: "f")].map { CChar(bitPattern: $0) }
    if floats.contains(number.objCType.pointee) { return .double(number.doubleValue) }
    guard let integer = Int64(exactly: number) else {
      throw refusal("the integer \(number) does not fit 64 bits")
    }
    return .int64(integer)
  }

  private func refusal(_ problem: String) -> StoreError { .seed(at: .path(file), problem) }
}
