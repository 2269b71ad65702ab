/**
 * DataFolder: the folder in which an embedded cluster keeps what it needs after a restart: objects and credentials in one
 * database, `objects.db`. A kubeconfig of the cluster therefore stays valid.
 *
 * Guarantees: the folder is created with mode 0700, the database with 0600; a folder in which others can write, and a database
 * that others can read, are refused. One process uses a folder at a time. A folder that cannot be opened is not changed.
 */
import { generateKeyPairSync } from "node:crypto";
import { ObjectDatabase, StoredDataError } from "../apiserver/mod.ts";
import { hasControls } from "../observe/mod.ts";
import { DatabaseError, fileStat, isRegularFile, joinPath, makeDirectory, toHex } from "../runtime/mod.ts";
import { type AuthorityPair, SigningAuthority } from "./signing_authority.ts";
import { certificateFacts, issueCertificates, type IssuedCertificates } from "../webhook/mod.ts";

/** The credentials of a server. They are secrets. */
export interface ServerCredentials {
  /** The bearer token of the administrator. */
  readonly token: string;
  readonly certificates: IssuedCertificates;
  /** Signs the certificates of clients. */
  readonly signingAuthority: AuthorityPair;
  /** The private key that signs the tokens of ServiceAccounts, PEM; undefined: the server makes one. */
  readonly signingKey?: string;
}

/** A folder cannot be used. */
export class DataFolderError extends Error {
  override name = "DataFolderError";
  /** What to do. */
  readonly advice: string;

  constructor(path: string, state: string, advice: string, cause?: unknown) {
    super(`Cannot open data folder ${JSON.stringify(path)}: ${state}`, { cause });
    this.advice = advice;
  }
}

const dayMs = 24 * 3_600_000;
/** A kubeconfig names the authority of the certificate, so both are used again, until a month before their end. */
const keptCertificateMs = 365 * dayMs;
const renewalMs = 30 * dayMs;

const chooseAnother = "Choose another folder";

/** A new token: 256 random bits. */
export function newToken(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(32)));
}

/** An open folder. Disposing it writes what is left, and frees the folder for the next process. */
export class DataFolder implements AsyncDisposable {
  readonly path: string;
  readonly database: ObjectDatabase;

  private constructor(path: string, database: ObjectDatabase) {
    this.path = path;
    this.database = database;
  }

  /** Opens a folder, and creates it if it does not exist. @throws DataFolderError */
  static async open(path: string): Promise<DataFolder> {
    if (path === "" || hasControls(path)) {
      throw new DataFolderError(path, "the path is empty or has control characters", chooseAnother);
    }
    try {
      await makeDirectory(path);
      await assertPrivate(path);
      return new DataFolder(path, await ObjectDatabase.open(databasePath(path)));
    } catch (error) {
      throw asFolderError(path, error);
    }
  }

  /** The port of the last server; undefined in a new folder. */
  get port(): number | undefined {
    const { port } = this.database.settings;
    return port === undefined ? undefined : Number(port);
  }

  /** Keeps the port for the next server. @throws DataFolderError */
  async savePort(port: number): Promise<void> {
    await this.#save({ port: String(port) });
  }

  /** The credentials of the last server, if they are valid for a while; else new ones. @throws DataFolderError */
  async credentials(hosts: readonly string[], now: number): Promise<Required<ServerCredentials>> {
    const { token = newToken(), signingKey = newSigningKey(), ca, cert, key } = this.database.settings;
    const facts = cert === undefined ? undefined : await certificateFacts(cert);
    const isValid = facts !== undefined && facts.notBefore <= now && facts.notAfter - renewalMs > now;
    const certificates = isValid && ca !== undefined && cert !== undefined && key !== undefined
      ? { ca, cert, key }
      : await issueCertificates({ hosts, now, lifetimeMs: keptCertificateMs });
    const signingAuthority = await this.#authority(now);
    const { certificate: clientCa, key: clientCaKey } = signingAuthority;
    await this.#save({ token, signingKey, ...certificates, clientCa, clientCaKey });
    return { token, signingKey, certificates, signingAuthority };
  }

  /** Certificates of clients stay valid for as long as their authority is used again. */
  async #authority(now: number): Promise<AuthorityPair> {
    const { clientCa, clientCaKey } = this.database.settings;
    if (clientCa !== undefined && clientCaKey !== undefined) {
      const known = await SigningAuthority.load({ certificate: clientCa, key: clientCaKey });
      if (known.notAfter - renewalMs > now) return known.pair;
    }
    return (await SigningAuthority.create({ now, lifetimeMs: keptCertificateMs })).pair;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database[Symbol.asyncDispose]();
  }

  async #save(changed: Readonly<Record<string, string>>): Promise<void> {
    const { settings } = this.database;
    if (Object.entries(changed).every(([name, value]) => settings[name] === value)) return;
    try {
      await this.database.saveSettings({ ...settings, ...changed });
    } catch (error) {
      throw asFolderError(this.path, error);
    }
  }
}

function databasePath(folder: string): string {
  return joinPath(folder, "objects.db");
}

function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Secrets are in the database, and its folder has the log of it. @throws DataFolderError */
async function assertPrivate(path: string): Promise<void> {
  const folder = await fileStat(path);
  if (folder !== undefined && (folder.mode & 0o022) !== 0) {
    throw new DataFolderError(path, "other users can write in it", `Run: chmod 700 ${path}`);
  }
  const file = databasePath(path);
  if (await isRegularFile(file) === false) {
    throw new DataFolderError(path, "objects.db is not a regular file", chooseAnother);
  }
  const database = await fileStat(file);
  if (database !== undefined && (database.mode & 0o077) !== 0) {
    throw new DataFolderError(path, "other users can read objects.db", `Run: chmod 600 ${file}`);
  }
}

function asFolderError(path: string, error: unknown): DataFolderError {
  if (error instanceof DataFolderError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [state, advice] = stateOf(error, text);
  return new DataFolderError(path, state, advice, error);
}

function stateOf(error: unknown, text: string): readonly [state: string, advice: string] {
  const restore = "Nothing was changed. Put back a copy of the folder, or choose another one";
  if (error instanceof StoredDataError) {
    const { problem } = error;
    if (problem === "damaged") return [`objects.db is damaged: ${text}`, restore];
    if (problem === "foreign") return [`objects.db: ${text}`, chooseAnother];
    return [`objects.db: ${text}`, "Use the version that wrote it, or choose another folder"];
  }
  switch (error instanceof DatabaseError ? error.problem : "other") {
    case "locked":
      return ["another process uses it", "End that process, or choose another folder"];
    case "damaged":
      return [`objects.db is damaged: ${text}`, restore];
    case "full":
      return ["no space is left on the disk", "Free some, or choose another folder"];
    case "not-writable":
      return [`it cannot be written: ${text}`, "Choose a folder that this user can write"];
    default:
      return [text, chooseAnother];
  }
}
