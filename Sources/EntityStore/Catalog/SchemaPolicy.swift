/// Decides by a store's migration history what a program may do with the store.
///
/// The module Migrations implements it with the migrations that the program knows.
package protocol SchemaPolicy: Sendable {
  /// Called when a store is opened.
  ///
  /// - Throws: `newerSchema` if the program must not read the store.
  func checkReadable(_ catalog: Catalog) throws

  /// Called at the begin of each write transaction whose catalog is not that of the one before.
  ///
  /// - Throws: `newerSchema`, `needsMigration`, `migration`; `storage` with the code `busy` while
  ///   another process is migrating the store.
  func checkWritable(_ catalog: Catalog, in folder: String) throws
}
