import Glibc

/// Lets this process open as many files as it is allowed to: raises the soft limit of
/// `RLIMIT_NOFILE` to the hard one. To be called at the start of a service.
///
/// libdispatch on Linux watches its threads by opening `/proc/<thread>/stat`, and ends the process
/// on purpose when that fails, as it does when no descriptor is free. The soft limit is 1,024 by
/// custom, for the sake of select(2), which nothing here uses.
///
/// - Returns: The limit that counts now. It is the old one if the system refuses, as a sandbox may.
@discardableResult
public func raiseDescriptorLimit() -> UInt64 {
  let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  var limit = rlimit()
  guard getrlimit(resource, &limit) == 0 else { return 0 }
  let before = limit.rlim_cur
  limit.rlim_cur = limit.rlim_max
  return UInt64(setrlimit(resource, &limit) == 0 ? limit.rlim_cur : before)
}
