/// A request with a name, made by a migration and kept in the catalog. Its predicate may hold
/// `$VARIABLES`.
public struct RequestTemplate: Codable, Hashable, Sendable {
  public var name: String
  public var request: FetchRequest

  public init(name: String, request: FetchRequest) {
    self.name = name
    self.request = request
  }
}
