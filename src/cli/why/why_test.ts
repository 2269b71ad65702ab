import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { serve } from "../../runtime/mod.ts";
import { operatorCli } from "../operator_cli.ts";
import { runCommandLine } from "../testing/run_command.ts";

const operator = { name: "op", controllers: [] };
const object = { resource: "deployments.apps", kind: "Deployment", key: "default/web" };
const at = Date.UTC(2026, 10, 23, 9, 12);
const change = {
  ...{ id: 1, at, kind: "change", via: "watch", change: "updated", causes: [], object },
  fields: [{ path: "spec.replicas", from: 2, to: 5 }],
  by: [{ manager: "kubectl-edit", operation: "Update" }],
};

const header = { pintleRecording: 1, operator: "op", version: "1", controllers: [], startedAt: at };

/** Runs `why` with the recording that has `text` after its header. */
async function withFile(text: string, ...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), "pintle-why-"));
  try {
    const path = join(folder, "incident.jsonl");
    await writeFile(path, `${JSON.stringify(header)}\n${text}`);
    return await runCommandLine(operator, ["why", ...args, "--file", path]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("[130] why --file explains an object from a recording, as text and as JSON", async () => {
  const text = `${JSON.stringify(change)}\n`;
  const plain = await withFile(text, "deploy", "web");
  assertEquals([plain.code, plain.err], [0, ""]);
  assertEquals(
    plain.out.split("\n")[0],
    "09:12:00  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
  );
  const { chains, object: found } = JSON.parse(
    (await withFile(text, "deployments.apps", "default/web", "-o", "json")).out,
  );
  assertEquals([chains.length, chains[0].steps[0].entries, found], [1, [1], object]);
  const not = await withFile(text, "deploy", "web", "--not");
  assertMatch(not.out, /^No controller of this program watches Deployment \(deployments\.apps\)/);
});

test("[130] why --entry explains what a log line belongs to, and nothing else at the same time", async () => {
  const text = `${JSON.stringify(change)}\n`;
  const { out } = await withFile(text, "--entry", "1");
  assertMatch(out, /^09:12:00 {2}Deployment default\/web: spec\.replicas 2 → 5 by kubectl \(kubectl-edit\)$/m);
  const missing = await withFile(text, "--entry", "2");
  assertEquals(missing.code, 1);
  assertMatch(
    missing.err,
    /^op: Cannot explain "entry 2": the recording has no such entry\. It has the entries 1 to 1/m,
  );
  for (const more of [["deploy", "web"], ["--not"], ["--all"]]) {
    const { code, err } = await withFile(text, "--entry", "1", ...more);
    assertEquals(code, 2);
    assertMatch(err, /Cannot explain entry 1 and .* at once\. Ask for one of them: op why --entry 1/);
  }
});

test("[130] why reads a recording whose last line was cut, and refuses a file that is none", async () => {
  const cut = await withFile(`${JSON.stringify(change)}\n{"id":2,"at":`, "deploy", "web");
  assertEquals(cut.code, 0);
  assertMatch(cut.err, /^op: line 3 has no end: the process was ended while it wrote$/m);
  const other = await withFile("hello\nworld\n", "deploy", "web");
  assertEquals(other.code, 1);
  assertMatch(other.err, /^op: Cannot read recording ".*": line 2 is not JSON\. Name a file of run --record$/m);
  const unknown = await withFile(`${JSON.stringify(change)}\n`, "secret", "web");
  assertMatch(
    unknown.err,
    /Cannot explain "secret web": neither a controller nor the recording knows the kind\. Known are deployments\.apps/,
  );
  assertEquals((await runCommandLine(operator, ["why", "deploy"])).code, 2);
});

test("[security 29] why sends the token to loopback or over TLS only, and says what is missing", async () => {
  const far = await runCommandLine(operator, [
    "why",
    "deploy",
    "web",
    "--address",
    "10.0.0.1:8082",
    "--debug-token",
    "x".repeat(20),
  ]);
  assertEquals(far.code, 2);
  assertMatch(far.err, /the token would be sent over the network unencrypted\. Use https/);
  const none = await runCommandLine(operator, ["why", "deploy", "web"]);
  assertMatch(none.err, /no token is given\. Set --debug-token-file/);
});

test("[130] why passes on what the process says, and refuses answers of another shape", async () => {
  let answer: Response = new Response();
  const asked: string[] = [];
  const handler = (request: Request) => {
    asked.push(`${new URL(request.url).pathname} ${request.headers.get("authorization")}`);
    return answer;
  };
  await using server = await serve({ handler, onError: console.error });
  const token = "a-token-of-the-test";
  const args = ["why", "deploy", "web", "--address", `127.0.0.1:${server.port}`];
  // On the clock of the system: the answer comes over a socket.
  const ask = async () => {
    let [out, err] = ["", ""];
    const code = await operatorCli(operator, {
      args,
      environment: { HOME: "/nonexistent", OP_DEBUG_TOKEN: token },
      stdout: { write: (text) => out += text },
      stderr: { write: (text) => err += text },
    });
    return { code, out, err };
  };
  answer = Response.json({ error: "The token is missing or wrong" }, { status: 401 });
  const refused = await ask();
  assertEquals([refused.code, asked], [4, [`/debug/why Bearer ${token}`]]);
  assertMatch(
    refused.err,
    /Cannot ask 127\.0\.0\.1:\d+ for \/debug\/why: The token is missing or wrong\. Pass the token/,
  );
  answer = Response.json({ now: at, object, chains: [{ at, steps: [] }], notes: [] });
  assertMatch((await ask()).err, /it has another shape\. Use the program of the same version/);
  answer = new Response("<html>");
  assertMatch((await ask()).err, /it is no debug endpoint \(status 200\)/);
  const steps = [{ kind: "cause", text: "a change\u001b[2J", at, entries: [1] }];
  answer = Response.json({ now: at, object, chains: [{ at, outcome: "done", steps }], notes: [] });
  const { out, err } = await ask();
  assertEquals([out, err], ["09:12:00  a change\\u001b[2J\n", ""]);
  assert(!out.includes(token));
});
