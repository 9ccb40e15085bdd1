import CMooringCurl

/// The waiting and running transfers of a ``TransferLoop``. Used on the loop's thread only.
final class TransferDriver {
  private let multi: MultiHandle
  private var admission: Admission<Transfer>
  private var running: [UnsafeMutableRawPointer: Transfer] = [:]

  init(multi: MultiHandle, configuration: CurlTransport.Configuration) {
    self.multi = multi
    admission = Admission(perHost: configuration.transfersPerHost, total: configuration.transfers)
  }

  func add(_ transfers: [Transfer]) {
    for transfer in transfers { admission.enqueue(transfer, host: transfer.url.origin.host) }
  }

  /// Ends the transfers that match. O(waiting + running).
  func cancel(where condition: (Transfer) -> Bool) {
    for transfer in admission.removeAll(where: condition) { transfer.cancel() }
    for (pointer, transfer) in running where condition(transfer) { remove(pointer)?.cancel() }
  }

  /// Starts transfers and moves data until all transfers wait for the network.
  ///
  /// A finished transfer makes room for others, which libcurl's timer does not know of. So it
  /// repeats until none finishes: otherwise the next start could wait for a whole poll.
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

  /// Waits for the network, or until the loop is woken.
  func waitForActivity() {
    do {
      try multi.poll(isIdle: running.isEmpty)
    } catch {
      failRunning(error)
    }
  }

  private func startAdmitted() {
    while let transfer = admission.admit() {
      do {
        try multi.add(transfer.handle)
        running[transfer.handle.pointer] = transfer
      } catch {
        admission.release(host: transfer.url.origin.host)
        transfer.fail(error)
      }
    }
  }

  /// Resumes the tasks of finished transfers. Returns true if there were any.
  private func finishCompleted() -> Bool {
    let completed = multi.completed()
    for (pointer, code) in completed { remove(pointer)?.finish(code) }
    return !completed.isEmpty
  }

  private func failRunning(_ error: HTTPError) {
    for pointer in running.keys { remove(pointer)?.fail(error) }
  }

  /// Removes a transfer from libcurl, which does not call back to it from then on.
  private func remove(_ pointer: UnsafeMutableRawPointer) -> Transfer? {
    guard let transfer = running.removeValue(forKey: pointer) else { return nil }
    multi.remove(transfer.handle)
    admission.release(host: transfer.url.origin.host)
    return transfer
  }
}
