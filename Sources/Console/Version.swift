/// The version of the commands, as `--version` prints it.
public enum Version {
  public static let text = "0.1.0"
}
