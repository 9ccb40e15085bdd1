import EntityModel
import TextFormats

extension FetchRequest {
  /// The request as a command: `mooring fetch Episode --where 'progress > 0' --limit 20`.
  var commandLine: String {
    var words = ["mooring", "fetch", entityName]
    func add(_ option: String, _ value: String?) {
      if let value, !value.isEmpty { words += [option, value] }
    }
    add("--where", predicate.map { "\($0)" })
    add("--group-by", propertiesToGroupBy.joined(separator: ","))
    add("--select", propertiesToFetch.map(\.selection).joined(separator: ","))
    add("--having", havingPredicate.map { "\($0)" })
    add("--sort", sortBy.map(\.word).joined(separator: ","))
    add("--limit", fetchLimit.map(String.init))
    add("--offset", fetchOffset > 0 ? String(fetchOffset) : nil)
    if returnsDistinctResults { words.append("--distinct") }
    switch resultType {
    case .count: words.append("--count")
    case .identifiers: words.append("--ids")
    case .entities, .rows: break
    }
    return words.map(\.shellWord).joined(separator: " ")
  }
}

extension SortKey {
  fileprivate var word: String {
    let words = [path, isDescending ? "desc" : nil, collation == .binary ? nil : collation.text]
    return words.compactMap { $0 }.joined(separator: ":")
  }
}

extension FetchProperty {
  fileprivate var selection: String {
    let expression = self.expression == .itself ? "_id" : "\(self.expression)"
    return name == expression ? name : "\(name)=\(expression)"
  }
}
