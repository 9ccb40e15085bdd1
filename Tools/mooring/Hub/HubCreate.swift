import ArgumentParser
import Console
import EntityStore
import StoreHub

extension HubCommand {
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Makes this store the first machine of a new hub.",
      discussion: """
        mooring hub create --name home --hub service=mooring

        Creates the schema mooring in the database if it is missing, and copies the store there, \
        from where other machines join. Restart programs that have the store open: until then \
        their writes end with 78. A run that was interrupted is completed by the next one.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var hub: HubOptions
    @Option(help: "The name by which machines join: letters, digits, dots, hyphens.")
    var name: String

    func validate() throws { try HubCommand.requireName(name) }

    func run() async throws {
      let setup = try hub.setup(options)
      let name = name
      let store = try options.openWithoutHub()
      let membership = try await LongCommand(isQuiet: options.quiet).copyingSnapshot(
        afterInterrupt: "run the command again to complete the hub"
      ) { progress in
        try setup.create(named: name, store, progress: progress)
      }
      store.close()
      if !options.quiet {
        Message.say(
          "the hub \(membership.name) is ready; other machines join it with "
            + "`mooring hub join --name \(membership.name)`")
      }
    }
  }

  struct Join: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "join", abstract: "Brings the store of a hub to this machine.",
      discussion: """
        mooring hub join --name home --hub service=mooring --machine laptop

        Copies the newest snapshot and applies the commits after it. The folder must have no \
        store, or one that was in this hub: that one is kept as data.mdb.replaced-TIME. This is \
        also the way back for a store that has diverged or was away for too long.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var hub: HubOptions
    @Option(help: "The name of the hub.") var name: String

    func validate() throws { try HubCommand.requireName(name) }

    func run() async throws {
      let setup = try hub.setup(options)
      let (name, opening) = (name, try options.storeOptions())
      let joined = try await LongCommand(isQuiet: options.quiet).copyingSnapshot(
        afterInterrupt: "nothing was changed"
      ) { progress in
        try setup.join(named: name, opening: opening, progress: progress)
      }
      let store = try options.open()
      if options.quiet { return }
      let entry = try store.newestHubEntry
      Message.say("this machine has the store of the hub \(name) up to entry \(entry)")
      if let file = joined.replacedFile {
        Message.say("the replaced file is kept as \(file); remove it when it is not needed")
      }
    }
  }

  struct Leave: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "leave", abstract: "Makes this store independent of its hub.",
      discussion: """
        mooring hub leave
        mooring hub leave --forget laptop

        The store keeps what it has, and the other machines go on without it. Works without a \
        connection, too; the hub then lists the machine until another one forgets it.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var hub: HubOptions
    @Option(
      help: ArgumentHelp(
        "Remove another machine, which is gone, from the hub instead.", valueName: "machine"))
    var forget: String?

    func run() async throws {
      let membership = try options.membership()
      if let forget {
        let database = try hub.database(of: membership)
        return try translatingStorageErrors {
          try HubSetup.forget(forget, of: membership.hub, database: database)
        }
      }
      let database = try? hub.database(of: membership)
      let store = try options.open()
      let failure = try translatingStorageErrors {
        try HubSetup.leave(store, membership, database: database)
      }
      if options.quiet { return }
      Message.say("the store is independent of the hub \(membership.name)")
      if let failure { Message.say("the hub still lists this machine: \(failure)") }
    }
  }

  static func requireName(_ name: String) throws {
    guard HubMembership.isName(name) else {
      throw ValidationError("--name takes 1 to 32 letters, digits, dots, hyphens")
    }
  }
}
