/**
 * A package registry on loopback: Verdaccio, at the version that the lock file of tests/registry pins. It has what is published
 * to it, and asks the registry of this machine for all other packages. Only those who run the test fetch it.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { root } from "../../tasks/_root.ts";
import { nodeProgram, npmModule } from "../../tasks/_runtimes.ts";
import { until } from "../controlplane/poll.ts";
import { freePort } from "../free_port.ts";

const user = "publisher";

/** A registry that listens. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
  /** An .npmrc with the token of a user who may publish. */
  readonly npmrc: string;
}

/** Starts an empty registry. */
export async function startVerdaccio(): Promise<Registry> {
  const node = nodeProgram("node24");
  const program = verdaccio();
  const upstream = execFileSync(node, [npmModule(), "config", "get", "registry"], { encoding: "utf8" }).trim();
  const folder = mkdtempSync(join(tmpdir(), "pintle-registry-"));
  const config = join(folder, "config.yaml");
  writeFileSync(config, JSON.stringify(configuration(folder, upstream)));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const child = spawn(node, [program, "--config", config, "--listen", `127.0.0.1:${port}`], { cwd: folder });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Uint8Array) => output += String(text));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const registry: Registry = {
    url,
    npmrc: join(folder, ".npmrc"),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await until(`get an answer of ${url}`, async () => {
      if (child.exitCode !== null) throw new Error(`Cannot start the registry: ${output}`);
      const isReady = await fetch(`${url}-/ping`).then(({ ok, body }) => body?.cancel().then(() => ok), () => false);
      return isReady === true ? { kind: "found", value: url } : { kind: "pending", state: output };
    });
    writeFileSync(registry.npmrc, `//127.0.0.1:${port}/:_authToken=${await addUser(url)}\n`);
    return registry;
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    throw error;
  }
}

/** Only users publish, and only packages of the scope; these are never asked for elsewhere. */
function configuration(folder: string, upstream: string): object {
  return {
    storage: join(folder, "storage"),
    auth: { htpasswd: { file: join(folder, "htpasswd"), max_users: 1 } },
    uplinks: { machine: { url: upstream } },
    packages: {
      "@pintle/*": { access: "$all", publish: "$authenticated" },
      "**": { access: "$all", proxy: "machine" },
    },
    log: { type: "stdout", format: "pretty", level: "warn" },
    max_body_size: "50mb",
  };
}

/** Adds a user, as `npm adduser` does. @returns the token */
async function addUser(url: string): Promise<string> {
  const response = await fetch(`${url}-/user/org.couchdb.user:${user}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: user, password: crypto.randomUUID(), email: "publisher@example.com" }),
  });
  const { token } = await response.json() as { readonly token?: string };
  if (token === undefined) throw new Error(`Cannot add a user: ${response.status}`);
  return token;
}

/** Fetches the packages of tests/registry if necessary. @returns the program */
function verdaccio(): string {
  const folder = join(root, "tests", "registry");
  const modules = join(folder, "node_modules");
  if (!existsSync(join(modules, ".deno", ".setup-cache.bin"))) {
    execFileSync(process.execPath, ["install", "--frozen", "--quiet"], { cwd: folder, stdio: ["ignore", 2, 2] });
  }
  return join(modules, "verdaccio", "bin", "verdaccio");
}
