package import EntityStore
package import Foundation
import LMDB
import Maintenance
package import PostgreSQL
import SystemSupport

/// The steps by which the store of a folder comes into a hub and out of it.
package struct HubSetup {
  /// The folder of the store.
  let folder: String
  let database: ConnectionString
  /// The section of the service file that was named for the database.
  let service: String?
  /// The name of this machine.
  let machineName: String
  let program: String

  package init(
    folder: String, database: ConnectionString, service: String?, machineName: String,
    program: String
  ) {
    self.folder = folder
    self.database = database
    self.service = service
    self.machineName = machineName
    self.program = program
  }

  // MARK: Create

  /// Makes a store the first machine of a new hub. A run that was interrupted is completed by the
  /// next one.
  ///
  /// - Parameter store: The store of the folder, opened without a log. All later writes, of every
  ///   process, need the log: they fail with `needsCommitLog` until the store is opened again.
  /// - Throws: `StoreError` with `occupied` if another hub has the name, or the store is in a hub;
  ///   `StorageError` with `.unreachable`, `.permission`; the errors of `Store.backUp`.
  package func create(
    named name: String, _ store: Store, progress: (SnapshotProgress) throws -> Void = { _ in }
  ) throws -> HubMembership {
    let membership =
      try HubMembership.read(inStore: folder)
      ?? HubMembership(machineName: machineName, name: name, service: service)
    guard membership.name == name else { throw isInHub(membership) }
    var session = try HubSession(database)
    try session.createTables()
    // First the file: a later run continues with the same identity.
    try membership.write(inStore: folder)
    let holder = try session.add(membership.hub, named: name)
    guard holder == membership.hub else {
      if try store.logPosition == nil { try HubMembership.remove(inStore: folder) }
      throw StoreError(
        .occupied, "the database has a hub with this name already", [("name", name)],
        advice: "choose another name, or join the hub on a machine without a store")
    }
    if let position = try store.logPosition {
      guard position.hub == membership.hub.number else { throw isInHub(membership) }
      if try !session.snapshots(of: membership.hub).isEmpty { throw isInHub(membership) }
    } else {
      try store.beginLog(membership.hub.number)
    }
    let position = try session.upload(store, to: membership.hub, progress: progress)
    try session.note(
      membership, sequence: position.sequence, program: program)
    return membership
  }

  // MARK: Join

  /// Brings the store of a hub to this machine.
  ///
  /// A store that is in the folder already is replaced only if it has been in this hub: it is kept
  /// under another name. After a kill at any moment the folder has the old store or the new one.
  ///
  /// - Parameter opening: As in `Store.restore`.
  /// - Returns: The place of the store in the hub, and the name under which the replaced data file
  ///   is kept.
  /// - Throws: `StoreError` with `storeMissing` if there is no such hub, with `occupied` if the
  ///   folder has another store; `StorageError` with `.unreachable`, `.damaged`; the errors of
  ///   `Store.restore`.
  package func join(
    named name: String, opening: Store.Options,
    progress: (SnapshotProgress) throws -> Void = { _ in }
  ) throws -> (membership: HubMembership, replacedFile: String?) {
    var session = try HubSession(database)
    guard let hub = try session.hub(named: name) else {
      let names = try session.hubNames()
      throw StoreError(
        .storeMissing, "the database has no hub with this name",
        [("name", name)] + (names.isEmpty ? [] : [("hubs", names.joined(separator: ", "))]),
        advice: "check the name, or create the hub on the machine that has the store")
    }
    let old = try HubMembership.read(inStore: folder)
    if let old, old.hub != hub { throw isInHub(old) }
    let isRejoining = old != nil
    guard isRejoining || !FileManager.default.fileExists(atPath: folder + "/data.mdb") else {
      throw StoreError(
        .occupied, "the folder has a store of its own", [("path", folder)],
        advice:
          "name another folder with --store; its records can be brought in by seeds or imports")
    }
    try requireFreeName(in: hub, except: old?.machine, &session)
    guard let snapshot = try session.snapshots(of: hub).first else {
      throw StorageError(
        .unreachable, "the hub has no complete copy of its store", context: [("hub", name)],
        advice: "complete `mooring hub create` on the machine that has the store")
    }
    let staging = try StagingFolder.forSnapshot(ofStore: folder)
    defer { staging.remove() }
    try session.download(
      snapshot, of: hub, to: staging.store + "/data.mdb", progress: progress)
    // A new identity: the old one may be that of the machine whose folder was copied. It is written
    // first, so that a run that was killed after the restore can be repeated.
    let membership = HubMembership(
      hub: hub, machineName: machineName, name: name, service: service)
    try membership.write(inStore: folder)
    var options = RestoreOptions()
    options.checksDeeply = false
    options.replacesOtherStore = true
    let report: RestoreReport
    do {
      report = try Store.restore(
        from: staging.store, to: folder, options: options, opening: opening)
    } catch {
      if !isRejoining { try HubMembership.remove(inStore: folder) }
      throw error
    }
    if let old { try session.remove(old.machine, of: hub) }
    try session.note(
      membership, sequence: snapshot.sequence, program: program)
    return (membership, report.replacedFile)
  }

  /// Queues of a machine have its name, so that no other machine may have it.
  private func requireFreeName(
    in hub: UUID, except own: UUID?, _ session: inout HubSession
  ) throws {
    guard let holder = try session.machine(named: machineName, of: hub), holder != own else {
      return
    }
    throw StoreError(
      .occupied, "the hub has a machine with this name", [("machine", machineName)],
      advice: "name this one with --machine, or remove the other with "
        + "`mooring hub leave --forget \(machineName)` if it is gone")
  }

  // MARK: Leave

  /// Makes a store independent of its hub. It keeps what it has; the other machines go on without
  /// it.
  ///
  /// - Returns: The failure because of which the hub still lists the machine; `nil` if it does not.
  /// - Throws: A storage failure.
  package static func leave(
    _ store: Store, _ membership: HubMembership, database: ConnectionString?
  ) throws -> String? {
    try store.endLog()
    var failure: String?
    do {
      guard let database else {
        throw StorageError(
          .needsCommitLog, "there is no connection string", advice: "set MOORING_HUB")
      }
      var session = try HubSession(database)
      try session.remove(membership.machine, of: membership.hub)
    } catch {
      failure = (error as? StorageError).map { "\($0.summary)" } ?? "\(error)"
    }
    try HubMembership.remove(inStore: store.folder)
    return failure
  }

  /// Removes a machine that is gone from the list of the hub.
  ///
  /// - Throws: `StoreError` with `missingRecord` if there is none with the name; `StorageError`
  ///   with `.unreachable`.
  package static func forget(
    _ name: String, of hub: UUID, database: ConnectionString
  ) throws {
    var session = try HubSession(database)
    guard let machine = try session.machine(named: name, of: hub) else {
      throw StoreError(
        .missingRecord, "the hub has no machine with this name", [("machine", name)],
        advice: "see `mooring hub status`")
    }
    try session.remove(machine, of: hub)
  }

  private func isInHub(_ membership: HubMembership) -> StoreError {
    StoreError(
      .occupied, "the store is in a hub already",
      [("path", folder), ("hub", membership.name)],
      advice: "leave that hub first, with `mooring hub leave`")
  }
}

extension StagingFolder {
  /// Claims the folder into which the snapshot of a hub is written.
  fileprivate static func forSnapshot(ofStore folder: String) throws -> StagingFolder {
    try makeFolders(folder)
    return try claim(folder + "/snapshot.partial", ownedBy: .ofParent)
  }
}
