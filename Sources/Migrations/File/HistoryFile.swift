import EntityModel
import StrictYAML

/// Reads the arguments of `setHistory` and `retainHistory`.
extension MigrationFile {
  func setHistory(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    .setHistory(
      HistorySetting(
        entity: try arguments.required("on").string(),
        isKept: try arguments.optional("keep")?.bool(),
        values: try arguments.optional("values")?.sequence().map { try $0.string() }))
  }

  func retainHistory(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    func bound(_ key: String, atMost maximum: Int64, least: Int64 = 1) throws -> Int64 {
      let node = try arguments.required(key)
      let number = try node.int()
      guard (least...maximum).contains(number) else {
        throw node.error("\(key) is from \(least) to \(maximum)")
      }
      return number
    }
    let days = try bound("days", atMost: 36_500)
    let megabytes = try bound("megabytes", atMost: 1 << 20)
    return .retainHistory(
      HistoryRetention(
        age: Double(days) * 86_400, bytes: Int(megabytes) << 20,
        consumerAge: Double(try bound("consumerDays", atMost: 36_500, least: days)) * 86_400,
        consumerBytes: Int(try bound("consumerMegabytes", atMost: 1 << 20, least: megabytes)) << 20)
    )
  }
}
