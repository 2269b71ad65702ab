/** The cases of pods: one for each guarantee in its description. */
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Pod } from "../../src/api/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { linesOf, printed, removed } from "./waits.ts";
import type { Case, CaseEnvironment, Program, ProgramResult } from "./environment.ts";

const spec = { containers: [{ name: "a", image: "example.invalid/a:1" }] };

async function createPod(env: CaseEnvironment, name: string, namespace = env.namespace): Promise<void> {
  await env.client.create(Pod, { metadata: { name, namespace }, spec });
}

async function deletePod(env: CaseEnvironment, name: string, namespace = env.namespace): Promise<void> {
  await removed(env, Pod, `${namespace}/${name}`);
}

function sync(name: string): string {
  return `Sync/Add/Update for Pod ${name}`;
}

/** Ends a program with SIGTERM. */
async function finish(program: Program): Promise<ProgramResult> {
  program.signal("SIGTERM");
  return await program.ended();
}

export const podsCases: readonly Case[] = [
  {
    name: "pods watches the namespace default with one worker, unless flags select another namespace",
    run: async (env) => {
      const [here, there] = [`here-${env.suffix}`, `yonder-${env.suffix}`];
      env.after(() => deletePod(env, here, "default"));
      await createPod(env, here, "default");
      await createPod(env, there);
      await using usual = env.run(["pods"]);
      await using named = env.run(["pods", "--namespace", env.namespace]);
      await using all = env.run(["pods", "--all-namespaces"]);
      await printed(env, usual, sync(here));
      await printed(env, named, sync(there));
      await printed(env, all, sync(here));
      await printed(env, all, sync(there));
      assert(!usual.stdout.includes(there), usual.stdout);
      assert(!named.stdout.includes(here), named.stdout);
      assertMatch(usual.stderr, /controller\.pods +starting workers +count=1\n/);
    },
  },
  {
    name: "each reconcile prints one line, about an existing or a deleted Pod; stdout has nothing else",
    run: async (env) => {
      await createPod(env, "a");
      await using program = env.run(["pods", "-n", env.namespace]);
      await printed(env, program, sync("a"));
      await createPod(env, "b");
      await printed(env, program, sync("b"));
      const value = { metadata: { labels: { changed: "yes" } } };
      const before = linesOf(program).filter((line) => line === sync("b")).length;
      await env.client.patch(Pod, `${env.namespace}/b`, { kind: "merge", value });
      await printed(env, program, sync("b"), before + 1);
      await deletePod(env, "a");
      await printed(env, program, `Pod ${env.namespace}/a does not exist anymore`);
      const { code, stdout, stderr } = await finish(program);
      assertEquals(code, 0, stderr);
      const legal = new Set([sync("a"), sync("b"), `Pod ${env.namespace}/a does not exist anymore`]);
      assertEquals(linesOf({ stdout }).filter((line) => !legal.has(line)), []);
    },
  },
  {
    name: "with -o json each line is an object",
    run: async (env) => {
      await createPod(env, "a");
      await using program = env.run(["pods", "-n", env.namespace, "-o", "json"]);
      const { namespace } = env;
      await printed(env, program, JSON.stringify({ event: "sync", namespace, name: "a" }));
      await deletePod(env, "a");
      await printed(env, program, JSON.stringify({ event: "gone", namespace, name: "a" }));
      const objects = linesOf(await finish(program)).map((line) => JSON.parse(line));
      assertEquals(objects.filter(({ namespace, name }) => namespace !== env.namespace || name !== "a"), []);
    },
  },
  {
    name: "a line that cannot be printed is retried five times with backoff, then its key is dropped with a log record",
    run: async (env) => {
      await createPod(env, "a");
      // With -v each retry is in the log, not only the first one.
      await using program = env.run(["pods", "-n", env.namespace, "-v"], { stdout: "full" });
      await program.logged(/ERROR .*dropping the key until it changes.*key=test-[a-z0-9]+\/a /);
      assertEquals(program.stderr.match(/reconcile failed, retrying/g)?.length, 5);
      // Lines are missing in the output, so the run did not succeed.
      assertEquals((await finish(program)).code, 1);
    },
  },
  {
    name: "with --known a Pod that was deleted between two runs is reported at the next start",
    run: async (env) => {
      const file = join(env.folder, "known");
      const args = ["pods", "-n", env.namespace, "--known", file];
      for (const name of ["a", "b", "c"]) await createPod(env, name);
      await using first = env.run(args);
      for (const name of ["a", "b", "c"]) await printed(env, first, sync(name));
      await deletePod(env, "c");
      await printed(env, first, `Pod ${env.namespace}/c does not exist anymore`);
      assertEquals((await finish(first)).code, 0);
      assertEquals(await readFile(file, "utf8"), `${env.namespace}/a\n${env.namespace}/b\n`);
      assertEquals((await stat(file)).mode & 0o777, 0o600);
      await deletePod(env, "a");
      await using second = env.run([...args]);
      await printed(env, second, `Pod ${env.namespace}/a does not exist anymore`);
      await printed(env, second, sync("b"));
      const { stdout } = await finish(second);
      assertEquals(linesOf({ stdout }).toSorted(), [`Pod ${env.namespace}/a does not exist anymore`, sync("b")]);
      assertEquals(await readFile(file, "utf8"), `${env.namespace}/b\n`);
    },
  },
  {
    name: "a file of known Pods survives a kill, and a file of another format is a usage error",
    run: async (env) => {
      const file = join(env.folder, "known");
      await writeFile(file, `${env.namespace}/gone\nelsewhere/x\n`);
      await createPod(env, "a");
      await using killed = env.run(["pods", "-n", env.namespace, "--known", file]);
      await printed(env, killed, sync("a"));
      killed.signal("SIGKILL");
      await killed.ended();
      assertEquals(await readFile(file, "utf8"), `elsewhere/x\n${env.namespace}/gone\n`);
      await writeFile(file, "");
      await using late = env.run(["pods", "-n", env.namespace, "--known", file]);
      await printed(env, late, sync("a"));
      await rm(env.folder, { recursive: true });
      const lost = await finish(late);
      assertEquals(lost.code, 1, lost.stderr);
      assertMatch(lost.stderr, /controller: Cannot write known Pods: .*\n$/);
      await mkdir(env.folder);
      await writeFile(file, "not a key\n");
      const { code, stderr } = await env.call(["run", "pods", "--known", file]);
      assertEquals(code, 2);
      assertMatch(stderr, /Cannot read known Pods: line 1 of ".*" is not namespace\/name/);
    },
  },
  {
    name: "pods writes nothing to the cluster",
    run: async (env) => {
      const proxy = await env.startProxy();
      await createPod(env, "a");
      await using program = env.run(["pods", "-n", env.namespace], { proxy });
      await printed(env, program, sync("a"));
      await finish(program);
      assertEquals(proxy.writes, []);
      const paths = new Set(proxy.requests.map(({ path }) => path.replace(/\?.*/, "")));
      assertEquals([...paths].filter((path) => path.startsWith("/api/v1")), [
        `/api/v1/namespaces/${env.namespace}/pods`,
      ]);
    },
  },
];
