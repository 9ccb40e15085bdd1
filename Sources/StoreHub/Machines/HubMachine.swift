public import EntityStore
import PostgreSQL

/// The place of a store in its hub, for measurements that open the store in their own process.
@_spi(Measurement)
public struct HubMachine: Sendable {
  private let address: HubAddress

  /// - Throws: `StoreError` with `storeMissing` if the store of the folder is in no hub;
  ///   `PostgreSQLError` for a connection string that cannot be read.
  public init(inStore folder: String, connection: String) throws {
    guard let membership = try HubMembership.read(inStore: folder) else {
      throw StoreError(
        .storeMissing, "the store is in no hub", [("path", folder)],
        advice: "create one with `mooring hub create`")
    }
    address = HubAddress(
      database: try ConnectionString(connection), membership: membership)
  }

  /// Lets the store that is opened with the options share its commits.
  public func addLog(to options: inout Store.Options) { address.addLog(to: &options) }

  /// Applies what other machines commit, on a thread that ends with the store.
  public func follow(_ store: Store) throws { _ = try HubFollower(store, of: address) }
}
