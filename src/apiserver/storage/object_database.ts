/**
 * ObjectDatabase: an ObjectStorage whose objects are also in a database file, so that a server continues after its end.
 *
 *   write -> ObjectStorage (in memory) -> onChange -> changes of this turn -> one commit -> sync -> the responses
 *
 * Guarantees: what was answered is in the file, also after SIGKILL and after a power failure. The changes of one turn of the
 * event loop are one commit; those that come while the disk is written are the next one. Each row has a checksum, so a damaged
 * file is refused instead of served, and it is not changed. Revisions continue where they ended.
 *
 * Caveats: the history is not kept. A watch continues after a restart if its collection has not changed since its version;
 * otherwise it gets a 410, as it does after a compaction.
 */
import { crc32 } from "node:zlib";
import { type Database, DatabaseError, nextTurn, openDatabase, type Statement } from "../../runtime/mod.ts";
import { StatusError } from "../model/mod.ts";
import type { Durability } from "./durability.ts";
import { ObjectStorage, type StorageChange, type StoredState } from "./storage.ts";

/** The file is a database, but not one that this version can use. */
export class StoredDataError extends Error {
  override name = "StoredDataError";
  /** `foreign`: of another program. `newer`: of a later version of this one. */
  readonly problem: "foreign" | "newer" | "damaged";

  constructor(message: string, problem: StoredDataError["problem"]) {
    super(message);
    this.problem = problem;
  }
}

/** What a server needs besides its objects, such as its credentials: names and texts. */
export type StoredSettings = Readonly<Record<string, string>>;

/** In the header of the file, where `file` and other tools look for it: "PntL". */
const applicationId = 0x506e744c;
/** The version of the tables below. A program that changes them raises it, and reads all earlier ones. */
const formatVersion = 1;

const schema = `
  CREATE TABLE collections (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, size INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE TABLE objects (
    collection INTEGER NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, json TEXT NOT NULL,
    checksum INTEGER NOT NULL, PRIMARY KEY (collection, key)
  ) WITHOUT ROWID;
  CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL, checksum INTEGER NOT NULL);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
`;

/** A collection in the file. */
interface CollectionRow {
  readonly id: number;
  readonly name: string;
  revision: number;
  size: number;
}

/** Somebody who waits for a revision. */
interface Waiter {
  readonly revision: number;
  resolve(): void;
  /** Absent: waits until it succeeds. */
  reject?(error: StatusError): void;
}

/** A storage and its file. Disposing it writes what is left, and closes the file. */
export class ObjectDatabase implements Durability, AsyncDisposable {
  readonly storage: ObjectStorage;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #collections = new Map<string, CollectionRow>();
  #settings: StoredSettings = {};
  /** The changes that no commit has. */
  #pending: StorageChange[] = [];
  #lastRevision = 0;
  #storedRevision = 0;
  #waiters: Waiter[] = [];
  #isWriting = false;
  #failure: StatusError | undefined;
  /** After a failed sync nobody knows what is on the disk: another attempt could report a success that is none. */
  #isLost = false;

  private constructor(database: Database) {
    this.#database = database;
    this.storage = new ObjectStorage({ onChange: (change) => this.#note(change) });
    this.#load();
    this.#statements = prepareStatements(database);
    this.#lastRevision = this.#storedRevision = this.storage.revision;
  }

  /**
   * Opens a file, and creates it if it does not exist.
   *
   * @param open opens the database
   * @throws StoredDataError when the file has other or damaged content; DatabaseError when it cannot be used
   */
  static async open(path: string, open: typeof openDatabase = openDatabase): Promise<ObjectDatabase> {
    const database = await open(path, (found) => void isEmpty(found));
    try {
      if (isEmpty(database)) database.transaction(() => database.execute(schema));
      return new ObjectDatabase(database);
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw error;
    }
  }

  get storedRevision(): number {
    return this.#storedRevision;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** The settings of the last `saveSettings`; none in a new file. */
  get settings(): StoredSettings {
    return this.#settings;
  }

  /** Replaces the settings, and writes them to the disk. @throws DatabaseError */
  async saveSettings(settings: StoredSettings): Promise<void> {
    const json = JSON.stringify(settings);
    const statement = this.#database.prepare("INSERT OR REPLACE INTO settings VALUES (1, ?, ?)");
    this.#database.transaction(() => statement.run(json, crc32(json)));
    await this.#database.sync();
    this.#settings = settings;
  }

  stored(): Promise<void> | undefined {
    const revision = this.#lastRevision;
    if (revision === this.#storedRevision) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiters.push({ revision, resolve, reject });
    void this.#write();
    return promise;
  }

  reached(revision: number): Promise<void> {
    if (revision <= this.#storedRevision) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push({ revision, resolve });
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stored()?.catch(() => {}); // whoever waits for a response has got the error
    await this.#database[Symbol.asyncDispose]();
  }

  #note(change: StorageChange): void {
    this.#pending.push(change);
    this.#lastRevision = change.change.revision;
    void this.#write();
  }

  /** Commits until nothing is left, or an attempt fails. Never rejects. */
  async #write(): Promise<void> {
    if (this.#isWriting) return;
    if (this.#isLost) return this.#reject();
    this.#isWriting = true;
    try {
      while (this.#pending.length > 0) {
        // Requests that are handled in this turn share the commit.
        await nextTurn();
        const revision = this.#commit();
        await this.#sync();
        this.#storedRevision = revision;
        this.#failure = undefined;
        this.#resolve();
      }
    } catch (error) {
      this.#failure = storageFailure(error);
      this.#reject();
    } finally {
      this.#isWriting = false;
    }
  }

  /** @returns the revision of the newest change in the commit */
  #commit(): number {
    const changes = this.#pending;
    const rows = new Map<string, CollectionRow>();
    this.#database.transaction(() => {
      for (const change of changes) this.#writeChange(change, rows);
      for (const { id, name, revision, size } of rows.values()) {
        this.#statements.putCollection.run(id, name, revision, size, collectionChecksum({ name, revision, size }));
      }
    });
    for (const [name, row] of rows) this.#collections.set(name, row);
    this.#pending = this.#pending.slice(changes.length);
    return changes.at(-1)?.change.revision ?? this.#storedRevision;
  }

  #writeChange({ collection, change }: StorageChange, rows: Map<string, CollectionRow>): void {
    let row = rows.get(collection);
    if (row === undefined) {
      const known = this.#collections.get(collection);
      const id = this.#collections.size + 1;
      const added = [...rows.keys()].filter((name) => !this.#collections.has(name)).length;
      rows.set(
        collection,
        row = known === undefined ? { id: id + added, name: collection, revision: 0, size: 0 } : { ...known },
      );
    }
    const { current: { key, json }, kind, revision } = change;
    row.revision = revision;
    if (kind === "added") row.size++;
    if (kind !== "deleted") {
      this.#statements.putObject.run(row.id, key, revision, json, objectChecksum(key, revision, json));
    } else {
      row.size--;
      this.#statements.deleteObject.run(row.id, key);
    }
  }

  async #sync(): Promise<void> {
    try {
      await this.#database.sync();
    } catch (error) {
      this.#isLost = true;
      throw error;
    }
  }

  #resolve(): void {
    const waiting = this.#waiters;
    this.#waiters = waiting.filter(({ revision }) => revision > this.#storedRevision);
    for (const waiter of waiting) if (waiter.revision <= this.#storedRevision) waiter.resolve();
  }

  #reject(): void {
    const failure = this.#failure ?? storageFailure(undefined);
    const waiting = this.#waiters;
    this.#waiters = waiting.filter(({ reject }) => reject === undefined);
    for (const { reject } of waiting) reject?.(failure);
  }

  /** Reads the whole file. @throws StoredDataError when a row is damaged or missing */
  #load(): void {
    const byId = new Map<number, StoredState[]>();
    for (const row of this.#database.prepare("SELECT * FROM collections").rows()) {
      const { id, name, revision, size, checksum } = row;
      if (
        typeof id !== "number" || typeof name !== "string" || typeof revision !== "number" ||
        typeof size !== "number" ||
        collectionChecksum({ name, revision, size }) !== checksum
      ) throw damaged("a collection");
      this.#collections.set(name, { id, name, revision, size });
      byId.set(id, []);
    }
    for (const row of this.#database.prepare("SELECT * FROM objects").rows()) {
      const { collection, key, revision, json, checksum } = row;
      if (
        typeof collection !== "number" || typeof key !== "string" || typeof revision !== "number" ||
        typeof json !== "string" || objectChecksum(key, revision, json) !== checksum
      ) throw damaged(`the object ${JSON.stringify(key)}`);
      const states = byId.get(collection);
      if (states === undefined) throw damaged(`the object ${JSON.stringify(key)}`);
      states.push({ key, revision, json });
    }
    for (const { id, name, revision, size } of this.#collections.values()) {
      const states = byId.get(id) ?? [];
      if (states.length !== size) throw damaged(`${name}: it has ${states.length} objects of ${size}`);
      this.storage.load(name, states.sort((left, right) => left.key < right.key ? -1 : 1), revision);
    }
    this.#settings = readSettings(this.#database);
  }
}

/** The statements of a commit. */
interface Statements {
  readonly putObject: Statement;
  readonly deleteObject: Statement;
  readonly putCollection: Statement;
}

function prepareStatements(database: Database): Statements {
  return {
    putObject: database.prepare("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?)"),
    deleteObject: database.prepare("DELETE FROM objects WHERE collection = ? AND key = ?"),
    putCollection: database.prepare("INSERT OR REPLACE INTO collections VALUES (?, ?, ?, ?, ?)"),
  };
}

/** True for a new file. @throws StoredDataError for the file of another program, or of a newer version */
function isEmpty(database: Pick<Database, "prepare">): boolean {
  const [{ application_id: application = 0 } = {}] = database.prepare("PRAGMA application_id").rows();
  const [{ user_version: version = 0 } = {}] = database.prepare("PRAGMA user_version").rows();
  const [{ count = 0 } = {}] = database.prepare("SELECT count(*) AS count FROM sqlite_schema").rows();
  if (application === 0 && version === 0 && count === 0) return true;
  if (application !== applicationId) {
    throw new StoredDataError("it is the database of another program", "foreign");
  }
  if (typeof version !== "number" || version > formatVersion) {
    throw new StoredDataError(
      `it has the format ${version} of a newer version; this one reads ${formatVersion}`,
      "newer",
    );
  }
  if (version !== formatVersion) throw damaged(`the format, which is ${version},`);
  return false;
}

function readSettings(database: Database): StoredSettings {
  const [row] = database.prepare("SELECT json, checksum FROM settings").rows();
  if (row === undefined) return {};
  const { json, checksum } = row;
  if (typeof json !== "string" || crc32(json) !== checksum) throw damaged("the settings");
  return JSON.parse(json) as StoredSettings;
}

function objectChecksum(key: string, revision: number, json: string): number {
  return crc32(json, crc32(`${key} ${revision} `));
}

function collectionChecksum({ name, revision, size }: Omit<CollectionRow, "id">): number {
  return crc32(`${name} ${revision} ${size}`);
}

function damaged(what: string): StoredDataError {
  return new StoredDataError(`${what} is damaged`, "damaged");
}

/** The answer to requests while the changes cannot be kept. */
function storageFailure(error: unknown): StatusError {
  const reason = error instanceof DatabaseError && error.problem === "full"
    ? "no space is left on the disk. Free some; the server continues then"
    : `${error instanceof Error ? error.message : "the disk failed"}. Look at the disk, then start the server again`;
  return new StatusError(500, "InternalError", `Cannot keep the changes in the data folder: ${reason}`);
}
