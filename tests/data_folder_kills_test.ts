/**
 * SIGKILL at random moments of `dev --bare --data-dir`: a real process, eight writers over TLS, and the same kubeconfig after
 * each restart. The gate kills a few times; `deno task kills` is the whole test, with the compiled binary.
 *
 * The rules: every create, update and delete that was answered is there after the restart; no version goes back; an object that
 * nobody wrote does not appear. The moment is a random number of answers, so the clock decides nothing.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { builtin } from "../src/api/mod.ts";
import { Client, isAlreadyExists, isNotFound } from "../src/client/mod.ts";
import { seededRandom } from "../src/async/mod.ts";
import { assert, test } from "./testing.ts";

const kills = Number(process.env["PINTLE_KILLS"] ?? 3);
const seed = Number(process.env["PINTLE_SEED"] ?? 1);
const binary = process.env["CONTROLLER_BINARY"];
const writers = 8;

/** What a writer knows about one of its objects. */
interface Known {
  /** The version of the last answer; undefined: the deletion was answered, or nothing was. */
  version: number | undefined;
  /** A request that was sent and is not answered: it may have had its effect, and no other effect. */
  open: "write" | "delete" | undefined;
}

/** Starts the server and waits for its address. */
async function start(folder: string): Promise<ChildProcess> {
  const args = ["dev", "--bare", "--data-dir", folder];
  const child = binary === undefined
    ? spawn(process.execPath, ["run", "-A", "--no-check", "main.ts", ...args], { stdio: ["ignore", "ignore", "pipe"] })
    : spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    let text = "";
    child.stderr?.on("data", (bytes: Uint8Array) => {
      text += new TextDecoder().decode(bytes);
      if (/KUBECONFIG=\S+\n/.test(text)) resolve();
    });
    child.once("exit", () => reject(new Error(`the server ended: ${text}`)));
  });
  return child;
}

function ended(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));
}

/** Writes objects until the server is gone, and keeps what was answered. */
async function write(client: Client, writer: number, known: Map<string, Known>, onAnswer: () => void): Promise<void> {
  for (let index = 0;; index = (index + 1) % 20) {
    const name = `w${writer}-${index}`;
    const key = `default/${name}`;
    const state = known.get(key) ?? { version: undefined, open: undefined };
    known.set(key, state);
    const isDelete = state.version !== undefined && index % 5 === 4;
    state.open = isDelete ? "delete" : "write";
    try {
      if (state.version === undefined) {
        const made = await client.create(builtin.ConfigMap, {
          metadata: { namespace: "default", name },
          data: { n: "0" },
        })
          .catch(async (error) => {
            if (!isAlreadyExists(error)) throw error;
            return await client.get(builtin.ConfigMap, key); // the create whose answer was lost
          });
        state.version = Number(made.metadata.resourceVersion);
      } else if (isDelete) {
        await client.delete(builtin.ConfigMap, key).catch((error) => {
          if (!isNotFound(error)) throw error; // the deletion whose answer was lost
        });
        state.version = undefined;
      } else {
        const value = { data: { n: String(state.version) } };
        const made = await client.patch(builtin.ConfigMap, key, { kind: "merge", value });
        state.version = Number(made.metadata.resourceVersion);
      }
      state.open = undefined;
      onAnswer();
    } catch (error) {
      if (!isNotFound(error)) return; // the server is gone
      state.version = undefined; // the deletion whose answer was lost
      state.open = undefined;
    }
  }
}

/** Compares what the server has with what the writers were told. @returns the version of the list */
async function compare(client: Client, known: ReadonlyMap<string, Known>, about: string): Promise<number> {
  const list = await client.list(builtin.ConfigMap, { namespace: "default" });
  const found = new Map(
    list.items.map(({ metadata: { name, resourceVersion } }) => [`default/${name}`, Number(resourceVersion)]),
  );
  for (const [key, { version, open }] of known) {
    const stored = found.get(key);
    const isRight = stored === version || open === "write" && stored !== undefined && stored > (version ?? 0) ||
      open === "delete" && stored === undefined;
    assert(
      isRight,
      `${about}: ${key} is ${stored}, the last answer was ${version}, ${open ?? "nothing"} was not answered`,
    );
  }
  for (const key of found.keys()) assert(known.has(key), `${about}: nobody wrote ${key}`);
  return Number(list.resourceVersion);
}

test("[140] SIGKILL at random moments loses no answered write, and one kubeconfig serves all of them", async () => {
  const path = await mkdtemp("/tmp/pintle-kills-");
  const folder = join(path, "data");
  const random = seededRandom(seed);
  const known = new Map<string, Known>();
  let revision = 0;
  let answers = 0;
  let client: Client | undefined;
  let child = await start(folder);
  try {
    client = await Client.fromKubeconfig({
      environment: { KUBECONFIG: join(folder, "kubeconfig.yaml") },
      transport: { maxAttempts: 1, rateLimit: { qps: 10_000, burst: 10_000 } },
    });
    for (let round = 1; round <= kills; round++) {
      const running = client;
      const limit = 1 + Math.floor(random.next() * 400);
      let answered = 0;
      const onAnswer = () => {
        answers++;
        if (++answered === limit) child.kill("SIGKILL");
      };
      const all = Array.from({ length: writers }, (_, writer) => write(running, writer, known, onAnswer));
      await ended(child);
      await Promise.all(all);
      child = await start(folder);
      const next = await compare(running, known, `kill ${round} after ${limit} answers, seed ${seed}`);
      assert(next >= revision, `the version of the list went back: ${revision}, ${next}`);
      revision = next;
    }
  } finally {
    child.kill("SIGKILL");
    await ended(child);
    client?.[Symbol.dispose]();
    await rm(path, { recursive: true, force: true });
  }
  console.log(`${kills} kills, ${answers} answered writes, version ${revision}`);
});
