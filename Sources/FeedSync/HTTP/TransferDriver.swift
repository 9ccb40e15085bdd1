import CMooringCurl

/// The transfers of a ``TransferLoop``, waiting and running. It belongs to the loop's thread.
final class TransferDriver {
  private struct Running {
    let submission: Submission
    let transfer: Transfer
  }

  private let multi: MultiHandle
  private let configuration: CurlTransport.Configuration
  private var admission: Admission<Submission>
  private var running: [UnsafeMutableRawPointer: Running] = [:]

  init(multi: MultiHandle, configuration: CurlTransport.Configuration) {
    self.multi = multi
    self.configuration = configuration
    admission = Admission(perHost: configuration.transfersPerHost, total: configuration.transfers)
  }

  func add(_ submissions: [Submission]) {
    for submission in submissions {
      admission.enqueue(submission, host: submission.exchange.url.origin.host)
    }
  }

  /// Ends what nobody waits for any more. O(waiting + running).
  func removeCancelled() {
    cancel { $0.isCancelled.isSet }
  }

  func cancelAll() {
    cancel { _ in true }
  }

  /// Starts what may start and transfers until everything waits for the network. A finished
  /// transfer makes room for others and is not told to libcurl's timer, so it goes on until
  /// nothing finishes: else the next start may wait for a whole poll.
  func runUntilBlocked() {
    do {
      repeat {
        startAdmitted()
        try multi.perform()
      } while finishCompleted()
    } catch {
      failRunning(error)
    }
  }

  /// Waits for the network, or until somebody wakes the loop.
  func waitForActivity() {
    do {
      try multi.poll(isIdle: running.isEmpty)
    } catch {
      failRunning(error)
    }
  }

  private func startAdmitted() {
    while let submission = admission.admit() {
      do {
        let transfer = try Transfer(submission.exchange, configuration: configuration)
        try multi.add(transfer.handle)
        running[transfer.handle.pointer] = Running(submission: submission, transfer: transfer)
      } catch {
        admission.release(host: submission.exchange.url.origin.host)
        submission.fail(error)
      }
    }
  }

  /// Hands the results over; whether there were any.
  private func finishCompleted() -> Bool {
    let completed = multi.completed()
    for (pointer, code) in completed {
      guard let entry = remove(pointer) else { continue }
      entry.submission.finish(entry.transfer.finish(code))
    }
    return !completed.isEmpty
  }

  private func failRunning(_ error: HTTPError) {
    for pointer in running.keys { remove(pointer)?.submission.fail(error) }
  }

  private func cancel(where condition: (Submission) -> Bool) {
    for submission in admission.removeAll(where: condition) { submission.cancel() }
    for (pointer, entry) in running where condition(entry.submission) {
      remove(pointer)?.submission.cancel()
    }
  }

  /// Takes a transfer from libcurl. From here on there are no callbacks to it.
  private func remove(_ pointer: UnsafeMutableRawPointer) -> Running? {
    guard let entry = running.removeValue(forKey: pointer) else { return nil }
    multi.remove(entry.transfer.handle)
    admission.release(host: entry.submission.exchange.url.origin.host)
    return entry
  }
}
