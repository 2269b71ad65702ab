/** The cases of pods: one for each line of its description. */
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Pod } from "../../src/api/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { linesOf, printed, removed } from "./looking.ts";
import type { Case, Ending, Program, Site } from "./site.ts";

const spec = { containers: [{ name: "a", image: "example.invalid/a:1" }] };

async function makePod(site: Site, name: string, namespace = site.namespace): Promise<void> {
  await site.client.create(Pod, { metadata: { name, namespace }, spec });
}

async function deletePod(site: Site, name: string, namespace = site.namespace): Promise<void> {
  await removed(site, Pod, `${namespace}/${name}`);
}

function sync(name: string): string {
  return `Sync/Add/Update for Pod ${name}`;
}

/** Ends a program as a person would. */
async function finish(program: Program): Promise<Ending> {
  program.signal("SIGTERM");
  return await program.ended();
}

export const podsCases: readonly Case[] = [
  {
    name: "pods watches the namespace default, with one worker, unless it is told another",
    run: async (site) => {
      const [here, there] = [`here-${site.suffix}`, `yonder-${site.suffix}`];
      site.after(() => deletePod(site, here, "default"));
      await makePod(site, here, "default");
      await makePod(site, there);
      await using usual = site.run(["pods"]);
      await using named = site.run(["pods", "--namespace", site.namespace]);
      await using all = site.run(["pods", "--all-namespaces"]);
      await printed(site, usual, sync(here));
      await printed(site, named, sync(there));
      await printed(site, all, sync(here));
      await printed(site, all, sync(there));
      assert(!usual.stdout.includes(there), usual.stdout);
      assert(!named.stdout.includes(here), named.stdout);
      assertMatch(usual.stderr, /controller\.pods +starting workers +count=1\n/);
    },
  },
  {
    name: "each sync is a line: of a Pod that is there, or one that does not exist any more; stdout has nothing else",
    run: async (site) => {
      await makePod(site, "a");
      await using program = site.run(["pods", "-n", site.namespace]);
      await printed(site, program, sync("a"));
      await makePod(site, "b");
      await printed(site, program, sync("b"));
      const value = { metadata: { labels: { changed: "yes" } } };
      const before = linesOf(program).filter((line) => line === sync("b")).length;
      await site.client.patch(Pod, `${site.namespace}/b`, { kind: "merge", value });
      await printed(site, program, sync("b"), before + 1);
      await deletePod(site, "a");
      await printed(site, program, `Pod ${site.namespace}/a does not exist anymore`);
      const { code, stdout, stderr } = await finish(program);
      assertEquals(code, 0, stderr);
      const legal = new Set([sync("a"), sync("b"), `Pod ${site.namespace}/a does not exist anymore`]);
      assertEquals(linesOf({ stdout }).filter((line) => !legal.has(line)), []);
    },
  },
  {
    name: "with -o json each line is an object",
    run: async (site) => {
      await makePod(site, "a");
      await using program = site.run(["pods", "-n", site.namespace, "-o", "json"]);
      const { namespace } = site;
      await printed(site, program, JSON.stringify({ event: "sync", namespace, name: "a" }));
      await deletePod(site, "a");
      await printed(site, program, JSON.stringify({ event: "gone", namespace, name: "a" }));
      const objects = linesOf(await finish(program)).map((line) => JSON.parse(line));
      assertEquals(objects.filter(({ namespace, name }) => namespace !== site.namespace || name !== "a"), []);
    },
  },
  {
    name:
      "a line that cannot be printed is tried five times more with backoff, then its Pod is dropped with a log line",
    run: async (site) => {
      await makePod(site, "a");
      await using program = site.run(["pods", "-n", site.namespace], { stdout: "full" });
      await program.logged(/ERROR .*dropping the key until it changes.*key=test-[a-z0-9]+\/a /);
      assertEquals(program.stderr.match(/reconcile failed, retrying/g)?.length, 5);
      assertEquals((await finish(program)).code, 0);
    },
  },
  {
    name: "with --known a Pod that was deleted while nothing ran is reported at the next start",
    run: async (site) => {
      const file = join(site.folder, "known");
      const args = ["pods", "-n", site.namespace, "--known", file];
      for (const name of ["a", "b", "c"]) await makePod(site, name);
      await using first = site.run(args);
      for (const name of ["a", "b", "c"]) await printed(site, first, sync(name));
      await deletePod(site, "c");
      await printed(site, first, `Pod ${site.namespace}/c does not exist anymore`);
      assertEquals((await finish(first)).code, 0);
      assertEquals(await readFile(file, "utf8"), `${site.namespace}/a\n${site.namespace}/b\n`);
      assertEquals((await stat(file)).mode & 0o777, 0o600);
      await deletePod(site, "a");
      await using second = site.run([...args]);
      await printed(site, second, `Pod ${site.namespace}/a does not exist anymore`);
      await printed(site, second, sync("b"));
      const { stdout } = await finish(second);
      assertEquals(linesOf({ stdout }).toSorted(), [`Pod ${site.namespace}/a does not exist anymore`, sync("b")]);
      assertEquals(await readFile(file, "utf8"), `${site.namespace}/b\n`);
    },
  },
  {
    name: "a file of known Pods survives a kill, and one that nobody wrote so is a usage error",
    run: async (site) => {
      const file = join(site.folder, "known");
      await writeFile(file, `${site.namespace}/gone\nelsewhere/x\n`);
      await makePod(site, "a");
      await using killed = site.run(["pods", "-n", site.namespace, "--known", file]);
      await printed(site, killed, sync("a"));
      killed.signal("SIGKILL");
      await killed.ended();
      assertEquals(await readFile(file, "utf8"), `elsewhere/x\n${site.namespace}/gone\n`);
      await writeFile(file, "");
      await using late = site.run(["pods", "-n", site.namespace, "--known", file]);
      await printed(site, late, sync("a"));
      await rm(site.folder, { recursive: true });
      const lost = await finish(late);
      assertEquals(lost.code, 1, lost.stderr);
      assertMatch(lost.stderr, /controller: Cannot write known Pods: .*\n$/);
      await mkdir(site.folder);
      await writeFile(file, "not a key\n");
      const { code, stderr } = await site.call(["run", "pods", "--known", file]);
      assertEquals(code, 2);
      assertMatch(stderr, /Cannot read known Pods: line 1 of ".*" is not namespace\/name/);
    },
  },
  {
    name: "pods writes nothing to the cluster",
    run: async (site) => {
      const wire = await site.wire();
      await makePod(site, "a");
      await using program = site.run(["pods", "-n", site.namespace], { wire });
      await printed(site, program, sync("a"));
      await finish(program);
      assertEquals(wire.writes, []);
      const paths = new Set(wire.requests.map(({ path }) => path.replace(/\?.*/, "")));
      assertEquals([...paths].filter((path) => path.startsWith("/api/v1")), [
        `/api/v1/namespaces/${site.namespace}/pods`,
      ]);
    },
  },
];
