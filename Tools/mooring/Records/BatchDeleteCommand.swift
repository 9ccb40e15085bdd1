import ArgumentParser
import Console
import DurableJobs
import EntityModel
import EntityObjects
import EntityStore
import StoreJobs

struct BatchDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes all records that match.",
    discussion: """
      mooring batch delete Episode --where 'feedID == nil AND progress == 1' --dry-run

      Delete rules apply: cascades delete related records, and `deny` stops the batch. --without \
      deleteRules only removes the links. The count is that of the records that match, without \
      cascades.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The entity, such as Episode.", completion: .entity) var entity: String
  @OptionGroup(title: "Records") var target: BatchTarget
  @OptionGroup(title: "Batch") var batch: BatchOptions
  @OptionGroup var job: DetachOptions

  func validate() throws { try batch.refuse(with: job, target) }

  func run() async throws {
    let store = try target.dryRun ? options.openToRead() : options.open()
    let predicate = try store.read { transaction in
      let predicate = try target.predicate(of: entity, in: transaction)
      if target.dryRun {
        let fetch = FetchRequest(entityName: entity, predicate: predicate)
        try target.printMatches(fetch, "matching", batch, in: transaction)
      }
      return predicate
    }
    if target.dryRun { return }
    if job.detach {
      let deletion = DeleteRecords(
        entity, where: predicate, without: try batch.withoutList(), author: batch.author)
      return try await job.enqueue(deletion, in: store, options, batch.format)
    }
    let request = BatchDeleteRequest(
      entity, where: predicate, resultType: batch.resultType, options: try batch.requestOptions())
    let result = try await options.runBatch(entity) { progress in
      try await store.execute(request, progress: progress)
    }
    try BatchOutput(entity: entity, format: batch.format)
      .write(result, [("deleted", \.deleted)], of: store)
  }
}
