import PostgreSQL

/// The tables of hubs, in the schema `mooring` of a PostgreSQL database, which has any number of
/// hubs.
///
/// Every key begins with the store, by which distributed engines divide the tables. There are no
/// extensions, triggers, advisory locks or sequences.
///
///     store           one row for each hub: the writer's turn is the lock of this row
///       id            the identity of the hub, which its stores remember
///       name          the name by which machines join
///       seq, chain    the position after the newest entry; see `LogPosition`
///       first_seq     the oldest entry that is stored
///       clock         the time of the newest turn, in seconds since 2001
///       format        the version of these tables and of the entries
///     entry           the entries of the log, in parts
///       chain         the chain after the entry, in its last part
///       nonce         one for each turn, by which a writer whose answer was lost finds its entry
///     snapshot        whole copies of `data.mdb`, in parts; `seq` is the position of the copy
///     machine         the machines that have joined, the position that each has reached, and the
///                     hash of all that it had at the entry `digest_seq`
///     lock            leases that hold on all machines; the note of the row `digest` is the entry
///                     at which the machines are to compare their stores
enum HubSchema {
  /// The version of the tables and of the entries.
  static let format: Int32 = 1

  /// The number of tables that the statements create.
  static let tablesCount = 6

  /// Creates what is missing.
  static let statements: [Statement] = [
    "CREATE SCHEMA IF NOT EXISTS mooring",
    """
    CREATE TABLE IF NOT EXISTS mooring.store (
      id uuid PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, seq bigint NOT NULL,
      chain bytea NOT NULL, first_seq bigint NOT NULL, clock double precision NOT NULL,
      format int NOT NULL) WITH (fillfactor = 20)
    """,
    """
    CREATE TABLE IF NOT EXISTS mooring.entry (
      store uuid NOT NULL, seq bigint NOT NULL, part int NOT NULL, machine uuid NOT NULL,
      nonce uuid NOT NULL, chain bytea, body bytea NOT NULL, PRIMARY KEY (store, seq, part))
    """,
    """
    CREATE TABLE IF NOT EXISTS mooring.snapshot (
      store uuid NOT NULL, id uuid NOT NULL, seq bigint NOT NULL, bytes bigint NOT NULL,
      is_complete bool NOT NULL, made_at timestamptz NOT NULL, PRIMARY KEY (store, id))
    """,
    """
    CREATE TABLE IF NOT EXISTS mooring.snapshot_part (
      store uuid NOT NULL, id uuid NOT NULL, part int NOT NULL, body bytea NOT NULL,
      PRIMARY KEY (store, id, part))
    """,
    """
    CREATE TABLE IF NOT EXISTS mooring.machine (
      store uuid NOT NULL, id uuid NOT NULL, name text NOT NULL, seq bigint NOT NULL,
      seen_at timestamptz NOT NULL, program text NOT NULL, digest_seq bigint, digest bytea,
      PRIMARY KEY (store, id))
    """,
    """
    CREATE TABLE IF NOT EXISTS mooring.lock (
      store uuid NOT NULL, name text COLLATE "C" NOT NULL, holder uuid NOT NULL,
      machine uuid NOT NULL, until timestamptz NOT NULL, note text, noted_at timestamptz,
      PRIMARY KEY (store, name))
    """,
  ]
  /// Has the bodies compressed by LZ4. PostgreSQL's own method takes a third of its processor time
  /// while a sync is written, and other writers wait for it.
  static let fastCompression: [Statement] = [
    "ALTER TABLE mooring.entry ALTER COLUMN body SET COMPRESSION lz4",
    "ALTER TABLE mooring.snapshot_part ALTER COLUMN body SET COMPRESSION lz4",
  ]
}
