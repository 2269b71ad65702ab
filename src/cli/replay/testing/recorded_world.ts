/** A World whose controllers are recorded in a file, and `replay` of that file by any controllers. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "../../../async/mod.ts";
import type { OperatorController } from "../../../manager/mod.ts";
import { type Entry, Recording, RecordingLines } from "../../../observe/mod.ts";
import { World } from "../../../simulation/mod.ts";
import { type CommandResult, runCommandLine, type RunOptions } from "../../testing/run_command.ts";

/** Dispose it to stop the world and to remove the file. */
export class RecordedWorld implements AsyncDisposable {
  readonly world: World;
  readonly path: string;
  readonly #folder: string;
  readonly #lines: string[];

  private constructor(world: World, folder: string, lines: string[]) {
    this.world = world;
    this.#folder = folder;
    this.path = join(folder, "incident.jsonl");
    this.#lines = lines;
  }

  static async start(
    controllers: readonly OperatorController[],
    options: Partial<Parameters<typeof World.start>[0]> = {},
  ): Promise<RecordedWorld> {
    const clock = new VirtualClock();
    const lines: string[] = [];
    const names = controllers.map(({ name }) => name);
    const sink = new RecordingLines(
      { operator: "op", version: "1", controllers: names, startedAt: clock.now() },
      (line) => lines.push(line),
    );
    const recorder = new Recording({ now: () => clock.now(), maxBytes: 0, sink });
    const folder = await mkdtemp(join(tmpdir(), "pintle-replay-"));
    return new RecordedWorld(await World.start({ ...options, controllers, clock, recorder }), folder, lines);
  }

  /** The recorded entries. */
  get entries(): readonly Entry[] {
    return this.#lines.slice(1).map((line) => JSON.parse(line));
  }

  /** Lets the world settle and writes the file. @param change of its lines */
  async save(change: (lines: readonly string[]) => readonly string[] = (lines) => lines): Promise<void> {
    await this.world.settled();
    await writeFile(this.path, change(this.#lines).join(""));
  }

  /** Runs `replay` of the file. */
  async replay(
    controllers: readonly OperatorController[],
    args: readonly string[] = [],
    options: RunOptions = {},
  ): Promise<CommandResult> {
    return await runCommandLine({ name: "op", controllers }, ["replay", this.path, ...args], options);
  }

  /** The text of the file. */
  async text(): Promise<string> {
    return await readFile(this.path, "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
