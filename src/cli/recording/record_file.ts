/**
 * RecordFile: the file of `--record`, JSON Lines that `replay` and `why --file` read.
 *
 *   Recording -> write(entry) -> lines in memory -> FILE -> FILE.1 -> … -> FILE.4 -> removed
 *
 * Guarantees: a reconcile never waits for the disk. What was recorded before the last turn of the event loop is in the file
 * after a crash, and everything after an end in order, a lost Lease, a signal or a defect. A disk that fails or is too slow
 * is one warning, and ends the recording only. Nothing but an older recording is replaced: not another file, and nothing
 * behind a link, a FIFO or a device. Only the owner can read the file; its entries are sealed, so they have no secrets.
 *
 * Caveats: one file per process. A process that starts keeps the file of the one before as FILE.1.
 */
import type { Clock } from "../../async/mod.ts";
import {
  type Entry,
  errorText,
  type Logger,
  logger,
  type RecordingHeader,
  RecordingLines,
  type RecordingSink,
} from "../../observe/mod.ts";
import {
  type CreatedFile,
  createFile,
  isRegularFile,
  movePath,
  nextTurn,
  readStart,
  removePath,
} from "../../runtime/mod.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";

/** The size of a file after which the next one begins. */
export const maxPartBytes = 64 * 1024 * 1024;
/** The files beside the current one. */
export const maxOldParts = 4;
/** What may wait for the disk, in UTF-16 code units: the first lists of a large cluster come at once. */
const maxWaitingLength = 128 * 1024 * 1024;
/** The most that is written at once, in UTF-16 code units. */
const maxWriteLength = 1024 * 1024;
/** Milliseconds for the rest, at the end of the process. */
const maxFlushMs = 5_000;
/** How the first line of a recording begins. */
const firstBytes = '{"pintleRecording":';

/** Options of a {@link RecordFile}. */
export interface RecordFileOptions {
  readonly path: string;
  readonly header: Omit<RecordingHeader, "pintleRecording" | "part">;
  readonly clock: Clock;
  /** @default 67108864 (64 MiB) */
  readonly maxBytes?: number;
  /** @default 134217728 */
  readonly maxWaiting?: number;
  /** @default logger("recording") */
  readonly log?: Logger;
}

/** A recording in a file. What is recorded before it is opened is in it, too. */
export class RecordFile implements RecordingSink {
  readonly keepsStates = true;
  readonly #options: RecordFileOptions;
  readonly #log: Logger;
  readonly #lines: RecordingLines;
  #waiting: string[] = [];
  #waitingLength = 0;
  #file: CreatedFile | undefined;
  #fileBytes = 0;
  #part = 1;
  #writing: Promise<void> | undefined;
  /** `failed` and `closed` take no further entries. */
  #state: "new" | "open" | "failed" | "closed" = "new";

  /** The file that a flag names, which is closed at the end of the session; undefined if the flag is not given. */
  static create(path: string | undefined, { session, controllers }: {
    readonly session: Session;
    readonly controllers: readonly { readonly name: string }[];
  }): RecordFile | undefined {
    if (path === undefined) return undefined;
    const { operator, version, processEnvironment: { clock } } = session;
    const names = controllers.map(({ name }) => name);
    const header = { operator: operator.name, version, controllers: names, startedAt: clock.now() };
    const file = new RecordFile({ path, header, clock });
    session.atEnd(() => file.close());
    return file;
  }

  constructor(options: RecordFileOptions) {
    this.#options = options;
    this.#log = options.log ?? logger("recording");
    this.#lines = new RecordingLines({ ...options.header, part: 1 }, (line) => this.#add(line));
  }

  /** Creates the file. @throws CommandError when it cannot be created, or something else is at its place */
  async open(): Promise<void> {
    const { path } = this.#options;
    try {
      for (const place of this.#places()) await assertReplaceable(place);
      await this.#shift();
      this.#file = await createFile(path);
    } catch (cause) {
      const advice = "--record needs a path where nothing is, or the recording of an earlier process";
      const message = `Cannot record to "${path}": ${errorText(cause)}`;
      throw new CommandError(message, { code: exitCode.failed, advice, cause });
    }
    this.#state = "open";
    this.#log.info("recording", { file: path });
    this.#wake();
  }

  /** Takes an entry. @throws Error after a failure, so that no further ones are prepared for the file */
  write(entry: Entry): void {
    if (this.#state === "failed") throw new Error(`Cannot record to "${this.#options.path}": a write has failed`);
    if (this.#state !== "closed") this.#lines.write(entry);
  }

  /** Writes what waits, for at most 5 s, and closes the file. */
  async close(): Promise<void> {
    if (this.#state !== "open") return;
    const waiting = new AbortController();
    const late = this.#options.clock.sleep(maxFlushMs, waiting.signal)
      .then(() => this.#log.warn("dropping the end of the recording, the disk is slow"));
    await Promise.race([this.#drain(), late]);
    waiting.abort();
    await late.catch(() => undefined);
  }

  async #drain(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#state === "open") this.#state = "closed";
    await this.#file?.close().catch((error: unknown) => this.#fail(error));
    this.#file = undefined;
  }

  #add(line: string): void {
    this.#waiting.push(line);
    this.#waitingLength += line.length;
    if (this.#waitingLength > (this.#options.maxWaiting ?? maxWaitingLength)) this.#fail(new Error("the disk is slow"));
    else this.#wake();
  }

  #wake(): void {
    if (this.#state !== "open" || this.#writing !== undefined || this.#waiting.length === 0) return;
    this.#writing = this.#writeAll().catch((error: unknown) => this.#fail(error)).finally(() => {
      this.#writing = undefined;
      this.#wake();
    });
  }

  /** Writes until nothing waits. What is recorded in one turn of the event loop is one write. */
  async #writeAll(): Promise<void> {
    await nextTurn();
    while (this.#waiting.length > 0 && this.#file !== undefined) {
      if (this.#fileBytes >= (this.#options.maxBytes ?? maxPartBytes)) await this.#rotate(this.#file);
      const text = this.#take();
      this.#fileBytes += await this.#file.write(text);
    }
  }

  /** The next lines that wait. */
  #take(): string {
    let count = 0;
    for (let length = 0; count < this.#waiting.length && length < maxWriteLength; count++) {
      length += this.#waiting[count]?.length ?? 0;
    }
    const text = this.#waiting.splice(0, count).join("");
    this.#waitingLength -= text.length;
    return text;
  }

  async #rotate(file: CreatedFile): Promise<void> {
    await file.close();
    await this.#shift();
    this.#file = await createFile(this.#options.path);
    let head = "";
    new RecordingLines({ ...this.#options.header, part: ++this.#part }, (line) => head += line);
    this.#fileBytes = await this.#file.write(head);
  }

  /** FILE and its older ones, newest first. */
  #places(): readonly string[] {
    const { path } = this.#options;
    return [path, ...Array.from({ length: maxOldParts }, (_, index) => `${path}.${index + 1}`)];
  }

  /** Gives each file the next place; the last one is replaced. */
  async #shift(): Promise<void> {
    const places = this.#places();
    for (let index = places.length - 2; index >= 0; index--) {
      const [from = "", to = ""] = places.slice(index);
      if (await isRegularFile(from) !== true) continue;
      if (await readStart(from, 1) === "") await removePath(from);
      else await movePath(from, to);
    }
  }

  #fail(error: unknown): void {
    if (this.#state === "failed") return;
    this.#state = "failed";
    this.#waiting = [];
    this.#waitingLength = 0;
    void this.#file?.close().catch(() => undefined);
    this.#file = undefined;
    this.#log.warn("recording ended, the file cannot be written", {
      file: this.#options.path,
      error: errorText(error),
    });
  }
}

/** @throws Error when something other than a recording, or an empty file, has this path */
async function assertReplaceable(path: string): Promise<void> {
  const isFile = await isRegularFile(path);
  if (isFile === undefined) return;
  if (!isFile) throw new Error(`"${path}" is not a regular file`);
  const start = await readStart(path, firstBytes.length);
  if (start !== "" && start !== firstBytes) throw new Error(`"${path}" exists and is no recording`);
}
