/**
 * The README's section about kind, line by line, on a real kind: its Docker comes from Debian packages, its node from
 * Debian packages and Go modules (machine.ts). Where a line needs more than its exit code, `checks` has the test. Run with:
 *
 *   ./compile.sh && deno test -A tests/kind
 *
 * The lines are one story, so a line that failed fails those that follow.
 */
import { basename } from "node:path";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { until } from "../controlplane/poll.ts";
import { shellBlocks } from "../shell_blocks.ts";
import { kindTest } from "./kind_test_function.ts";
import { leftovers, type MachineState, stateBefore } from "./leftovers.ts";
import { Machine, type MachineParts } from "./machine.ts";
import { User } from "./user.ts";

const startedMs = 300_000;

/** The story so far. */
interface Story {
  readonly before: MachineState;
  readonly machine: Machine;
  readonly user: User;
}

let story: Story | undefined;
let failedLine: string | undefined;

/** The lines of the block, without their comments. */
function lines(): readonly string[] {
  const block = shellBlocks().find(({ text }) => text.startsWith("kind create cluster"));
  assert(block !== undefined, "README.md has no block that begins with kind create cluster");
  return block.commands.map(({ text }) => text);
}

async function begin(parts: MachineParts): Promise<Story> {
  const before = await stateBefore();
  const machine = await Machine.start(parts);
  await machine.prepareForClusters();
  return { before, machine, user: new User(machine) };
}

async function runToEnd(user: User, line: string): Promise<void> {
  // The image takes packages from Debian, and kind's machine has no way out.
  const { code, stdout, stderr } = await user.shell(line, { isOutside: line.startsWith("deno task image") });
  assertEquals(code, 0, `${line}\n${stdout}${stderr}`);
}

/** Runs a line and looks at what it has done. */
type Check = (user: User, line: string) => Promise<void>;

const checks: readonly (readonly [RegExp, Check])[] = [
  [/^kind create cluster/, createsReadyNode],
  [/^controller run/, worksFromThisMachine],
  [/^kubectl rollout status/, worksInTheCluster],
  [/^kind delete cluster/, deletesEverything],
];

for (const line of lines()) {
  kindTest(`README.md on kind: ${line}`, async (parts) => {
    if (failedLine !== undefined) throw new Error(`Cannot run "${line}": "${failedLine}" failed`);
    failedLine = line;
    story ??= await begin(parts);
    const [, check = runToEnd] = checks.find(([pattern]) => pattern.test(line)) ?? [];
    await check(story.user, line);
    failedLine = undefined;
  });
}

kindTest("kind leaves nothing on the machine", async () => {
  assert(story !== undefined, "nothing has run");
  const { before, machine } = story;
  await machine[Symbol.asyncDispose]();
  assertEquals(await leftovers(before, basename(machine.dir)), []);
});

async function createsReadyNode(user: User, line: string): Promise<void> {
  await runToEnd(user, line);
  await user.kubectl(["wait", "--for=condition=Ready", "node", "--all", `--timeout=${startedMs}ms`]);
  assertEquals(await user.kubectl(["config", "current-context"]), "kind-kind\n");
  // kubelet has changed a setting of the whole machine in its copy, and the last test sees that it stayed as it was.
  const { stdout } = await user.shell("docker exec kind-control-plane cat /proc/sys/vm/overcommit_memory");
  assertEquals(stdout.trim(), "1");
}

/** Local development: Foo and Ingress converge, and the API server in its container calls the webhooks of this process. */
async function worksFromThisMachine(user: User, line: string): Promise<void> {
  await using running = user.start(line);
  await running.printed(/found the address of this machine.* host=\S*172\./);
  await running.printed(/starting workers/);
  await user.kubectl([
    ...["wait", "--for=jsonpath={.status.availableReplicas}=1", "foo/example-foo", `--timeout=${startedMs}ms`],
  ]);
  const host = ["get", "ingress", "shop", "--ignore-not-found", "--output=jsonpath={.spec.rules[0].host}"];
  await eventually("see the Ingress of the Service", async () => await user.kubectl(host), "shop.example.com");
  await callsWebhooks(user);
  assertEquals(await running.interrupt(), 0, running.output);
  const configurations = ["get", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "--output=name"];
  assertEquals(await user.kubectl(configurations), "");
  // The schema alone lets it pass, so it was the webhook that has refused it.
  await user.kubectl(create, invalid);
}

/** The operator's Pods do what the process did, its webhooks are called through their Service. */
async function worksInTheCluster(user: User, line: string): Promise<void> {
  await runToEnd(user, line);
  await user.kubectl(["delete", "deployment", "example-foo"]);
  // A condition of an object that does not exist is an error, not something to wait for.
  for (const state of ["create", "condition=Available"]) {
    await user.kubectl(["wait", `--for=${state}`, "deployment/example-foo", `--timeout=${startedMs}ms`]);
  }
  await callsWebhooks(user);
}

async function deletesEverything(user: User, line: string): Promise<void> {
  await runToEnd(user, line);
  assertEquals((await user.shell("docker ps --all --quiet")).stdout, "");
}

const pool = { apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name: "probe" } };

const invalid = JSON.stringify({ ...pool, spec: { handler: "runc", taints: [{ key: "a b", effect: "NoSchedule" }] } });
const create = ["create", "--filename=-", "--dry-run=server"];

/** The defaulting webhook fills a pool in, the validating one refuses another. Nothing is stored. */
async function callsWebhooks(user: User): Promise<void> {
  const empty = JSON.stringify({ ...pool, spec: { handler: "runc" } });
  const labels = async () => {
    const { stdout, stderr } = await user.tryKubectl([...create, "--output=jsonpath={.spec.labels}"], empty);
    return stdout + stderr;
  };
  await eventually("see the label of the defaulting webhook", labels, '{"node-pool.lailin.xyz/probe":""}');
  const { code, stderr } = await user.tryKubectl(create, invalid);
  assertEquals(code, 1, stderr);
  assertMatch(stderr, /spec\.taints\[0\]\.key: Invalid value: "a b"/);
}

async function eventually(what: string, read: () => Promise<string>, wanted: string | RegExp): Promise<void> {
  await until(what, async () => {
    const seen = await read();
    const isFound = typeof wanted === "string" ? seen === wanted : wanted.test(seen);
    return isFound ? { kind: "found", value: undefined } : { kind: "pending", state: seen };
  }, { everyMs: 500 });
}
