import Dispatch

/// Runs an actor on a serial Dispatch queue of its own. Linux has no `DispatchSerialQueue` that
/// could be an executor by itself.
///
/// A serial queue without a target takes its thread from the overcommit pool, so the actor runs
/// even while every thread of the cooperative pool is busy.
final class DispatchExecutor: SerialExecutor {
  let queue: DispatchQueue
  /// Runs nonisolated tasks on the same queue, so that what the actor awaits needs no thread of the
  /// cooperative pool either.
  let tasks: DispatchTasks

  init(label: String) {
    queue = DispatchQueue(label: label)
    tasks = DispatchTasks(queue: queue)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

/// Runs tasks on a Dispatch queue.
final class DispatchTasks: TaskExecutor {
  private let queue: DispatchQueue

  init(queue: DispatchQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
