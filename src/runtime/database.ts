/**
 * A database in a file: the SQLite of the runtime (`node:sqlite`, which Deno, Node and Bun have), for one process at a time.
 *
 * Guarantees: the file is created with mode 0600. A second process gets the problem "locked" for as long as the first one
 * runs, however that ends. A commit is in the write-ahead log of the operating system, so it survives the end of the process;
 * after `sync` it also survives the end of the machine. The disk is written beside the event loop, not in it.
 *
 * Caveats: Node announces its SQLite as experimental with one line on stderr.
 */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";

/** A value of a column. */
export type ColumnValue = string | number;

/** A prepared statement. */
export interface Statement {
  run(...values: readonly ColumnValue[]): void;
  /** The rows of the result, one after the other, by the names of their columns. */
  rows(...values: readonly ColumnValue[]): Iterable<Readonly<Record<string, unknown>>>;
}

/** An open database. Disposing it closes the file; what was committed stays. */
export interface Database extends AsyncDisposable {
  /** Runs statements without a result. @throws DatabaseError */
  execute(sql: string): void;
  /** @throws DatabaseError */
  prepare(sql: string): Statement;
  /** Runs `work` in a transaction: all of its changes are committed, or none. @throws DatabaseError */
  transaction(work: () => void): void;
  /** Resolves when all that was committed is on the disk. @throws DatabaseError */
  sync(): Promise<void>;
}

/** Why a database failed. */
export type DatabaseProblem = "locked" | "damaged" | "full" | "not-writable" | "missing" | "other";

/** An error of SQLite, or of its file. */
export class DatabaseError extends Error {
  override name = "DatabaseError";
  readonly problem: DatabaseProblem;

  constructor(message: string, problem: DatabaseProblem, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}

/** The part of `node:sqlite` that this file uses. The types of the runtimes differ. */
interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqliteDatabase;
}

interface SqliteDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

interface SqliteStatement {
  run(...values: readonly ColumnValue[]): unknown;
  iterate(...values: readonly ColumnValue[]): Iterable<Record<string, unknown>>;
}

/** Result codes of SQLite (sqlite.org/rescode.html), and what their texts begin with, because Deno leaves out some codes. */
const problems: readonly (readonly [code: number, text: RegExp, problem: DatabaseProblem])[] = [
  [5, /^database is locked/, "locked"],
  [8, /^attempt to write a readonly/, "not-writable"],
  [11, /malformed/, "damaged"],
  [13, /^database or disk is full/, "full"],
  [14, /^unable to open/, "not-writable"],
  [26, /^file is not a database/, "damaged"],
];

/** Pages of the write-ahead log that a commit moves into the file: 16 MiB, so that a burst of writes waits rarely. */
const checkpointPages = 4_096;

/** What {@link openDatabase} calls before it changes the file; it throws for the file of another program. */
export type DatabaseCheck = (database: Pick<Database, "prepare">) => void;

/**
 * Opens a database, and creates it if it does not exist. Its folder must exist.
 *
 * @param path of a regular file or of nothing; the write-ahead log stands beside it while the database is open
 * @throws DatabaseError when another process has it open, when it is none, or when it cannot be written
 */
export async function openDatabase(path: string, check: DatabaseCheck = () => {}): Promise<Database> {
  const module: Partial<SqliteModule> | undefined = process.getBuiltinModule("node:sqlite");
  const { DatabaseSync } = module ?? {};
  if (DatabaseSync === undefined) {
    throw new DatabaseError("this runtime has no SQLite; use Node 22.18 or later, Deno or Bun", "missing");
  }
  await createEmptyFile(path);
  const sqlite = guarded(() => new DatabaseSync(path));
  try {
    // The first statement reads the file: it says whether this is a database, and whether another process has it.
    guarded(() => sqlite.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT"));
    const database = new OpenDatabase(sqlite, `${path}-wal`);
    check(database);
    guarded(() => sqlite.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"));
    guarded(() => sqlite.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`));
    return database;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

/** The permissions of a database are those of its file, and its log gets the same. */
async function createEmptyFile(path: string): Promise<void> {
  try {
    const file = await open(path, "wx", 0o600);
    await file.close();
    // The name of a new file is durable when its folder is.
    const folder = await open(dirname(path), "r");
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw fileError(error);
  }
}

class OpenDatabase implements Database {
  readonly #sqlite: SqliteDatabase;
  readonly #logPath: string;
  /** The write-ahead log; SQLite creates it with the first commit. It has no locks, which closing a file would release. */
  #log: Promise<FileHandle> | undefined;

  constructor(sqlite: SqliteDatabase, logPath: string) {
    this.#sqlite = sqlite;
    this.#logPath = logPath;
  }

  execute(sql: string): void {
    guarded(() => this.#sqlite.exec(sql));
  }

  prepare(sql: string): Statement {
    const statement = guarded(() => this.#sqlite.prepare(sql));
    return {
      run: (...values) => void guarded(() => statement.run(...values)),
      rows: (...values) => guardedRows(() => statement.iterate(...values)),
    };
  }

  transaction(work: () => void): void {
    this.execute("BEGIN IMMEDIATE");
    try {
      work();
      this.execute("COMMIT");
    } catch (error) {
      // SQLite has rolled back after some errors already.
      attempt(() => this.#sqlite.exec("ROLLBACK"));
      throw error;
    }
  }

  async sync(): Promise<void> {
    try {
      // A promise, so that two that sync at once share one handle.
      this.#log ??= open(this.#logPath, constants.O_RDWR);
      await (await this.#log).datasync();
    } catch (error) {
      throw fileError(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const log = await this.#log?.catch(() => undefined); // who asked for it has got the error
    await log?.close();
    guarded(() => this.#sqlite.close());
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asDatabaseError(error);
  }
}

function* guardedRows<T>(rows: () => Iterable<T>): Iterable<T> {
  try {
    yield* rows();
  } catch (error) {
    throw asDatabaseError(error);
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The first error is thrown.
  }
}

function asDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const code = typeof error === "object" && error !== null && "errcode" in error ? Number(error.errcode) & 0xff : 0;
  const found = problems.find(([number, pattern]) => number === code || pattern.test(text));
  return new DatabaseError(text, found?.[2] ?? "other", error);
}

function fileError(error: unknown): DatabaseError {
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const problem = code === "ENOSPC" || code === "EDQUOT"
    ? "full"
    : code === "EROFS" || code === "EACCES" || code === "EPERM"
    ? "not-writable"
    : "other";
  return new DatabaseError(text, problem, error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
