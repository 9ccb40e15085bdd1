import Foundation
import Glibc

extension TemporaryFolder {
  /// Mounts a device of a size such as `64k` on a folder in this one.
  ///
  /// - Returns: The folder for `unmountDevice`; `nil`, after a printed notice, if this machine does
  ///   not permit mounts.
  public func mountDevice(size: String) throws -> String? {
    let device = path("device")
    try FileManager.default.createDirectory(atPath: device, withIntermediateDirectories: true)
    guard mount("mooring-test", device, "tmpfs", 0, "size=\(size)") == 0 else {
      print("no device can be mounted here; what a test does on one is not tested")
      return nil
    }
    return device
  }
}

public func unmountDevice(_ device: String) { umount2(device, Int32(MNT_DETACH)) }
