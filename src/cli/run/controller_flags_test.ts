import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  test,
} from "../../../tests/testing.ts";
import { type Clock, scope, VirtualClock } from "../../async/mod.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { type OperatorController, type RunSetup, withFlags } from "../../manager/mod.ts";
import type { TextWriter } from "../../runtime/mod.ts";
import { z } from "../../schema/mod.ts";
import { FakeServer } from "../testing/fake_server.ts";
import { createProcess, endOf, runCommandLine, startCommandLine } from "../testing/run_command.ts";
import { TestProcess } from "../testing/test_process.ts";
import { Session } from "../command/mod.ts";
import { flag } from "../flags/flag.ts";
import { linePrinter, outputClosed } from "./controller_flags.ts";

const flags = z.object({
  greeting: flag(z.string().regex(/^[A-Z]/, { error: "it does not begin with a capital" }).default("Hello"), {
    flags: "--greeting <word>",
    about: "how Pods are greeted",
    example: "--greeting Hi",
  }),
});

type Setups = (RunSetup & { readonly flags: z.output<typeof flags> })[];

/** An operator with two controllers, one of which has a flag. `setups` gets what configured it. */
function operatorOf(setups: Setups) {
  const bare: OperatorController = controller("greeter", { namespace: "home" }).for(builtin.Pod)
    .reconcileKey(() => Promise.resolve(done));
  const greeter = withFlags(bare, flags, async (setup) => {
    setups.push(setup);
    if (setup.flags.greeting === "Bad") throw new RangeError("Cannot greet: the greeting is unknown");
    await setup.print(setup.flags.greeting);
    return bare;
  });
  const other = controller("other").for(builtin.ConfigMap).reconcileKey(() => Promise.resolve(done));
  return { name: "op", controllers: [greeter, other] };
}

const server = new FakeServer({}).transport;

async function setupOf(words: string, environment = {}): Promise<readonly [Setups[number] | undefined, string]> {
  const setups: Setups = [];
  const { err } = await runCommandLine(operatorOf(setups), words.split(" "), { transport: server, environment });
  return [setups[0], err];
}

test("help of run shows the flags of each controller under their own heading", async () => {
  const { out } = await runCommandLine(operatorOf([]), ["run", "--help"]);
  assertStringIncludes(out, "Flags of greeter:");
  assertMatch(out, /--greeting <word> +how Pods are greeted \(default: Hello\)/);
  assertStringIncludes(out, "OP_<FLAG> sets every flag");
});

test("a controller is configured with its flags from the command line, the environment or the defaults", async () => {
  assertEquals((await setupOf("run greeter --greeting Hi"))[0]?.flags, { greeting: "Hi" });
  assertEquals((await setupOf("run --all", { OP_GREETING: "Hey" }))[0]?.flags, { greeting: "Hey" });
  assertEquals((await setupOf("run greeter"))[0]?.flags, { greeting: "Hello" });
  assertEquals((await setupOf("run other"))[0], undefined);
});

test("a controller gets the given namespaces, all with -A, else its own", async () => {
  assertEquals((await setupOf("run greeter"))[0]?.namespaces, ["home"]);
  assertEquals((await setupOf("run greeter -n a -n b"))[0]?.namespaces, ["a", "b"]);
  assertEquals((await setupOf("run greeter -A"))[0]?.namespaces, []);
});

test("a controller gets the format of the log: json on demand, and in a Pod that has no terminal", async () => {
  const formatOf = async (words: string, environment = {}) => (await setupOf(words, environment))[0]?.logFormat;
  assertEquals(await formatOf("run greeter"), "text");
  assertEquals(await formatOf("run greeter --log-format json"), "json");
  const pod = { KUBERNETES_SERVICE_HOST: "10.0.0.1" };
  assertEquals(await formatOf("run greeter", pod), "json");
  assertEquals(await formatOf("run greeter --log-format text", pod), "text");
  // Other commands are for people, also in a Pod of a build.
  const { err } = await runCommandLine(operatorOf([]), ["run", "--once"], { transport: server, environment: pod });
  const people = await runCommandLine(operatorOf([]), ["install-crds", "nope"], { environment: pod });
  assertEquals([err.startsWith("{"), people.err.startsWith("op: ")], [true, true]);
});

test("a controller lists only in those namespaces", async () => {
  for (const [words, path] of [["-n a", "namespaces/a/pods"], ["-A", "pods"], ["", "namespaces/home/pods"]] as const) {
    const server = new FakeServer({});
    await runCommandLine(operatorOf([]), `run greeter ${words}`.trim().split(" "), { transport: server.transport });
    const lists = server.requests.filter((line) => line.includes("pods"));
    assertEquals(new Set(lists.map((line) => line.replace(/^GET \/api\/v1\/|\?.*$/g, ""))), new Set([path]));
  }
});

test("[84] an invalid flag, or a flag of a controller that is not selected, is a usage error", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    [
      "run greeter --greeting hi",
      /Cannot parse --greeting "hi": it does not begin with a capital. Example: --greeting Hi/,
    ],
    [
      "run greeter --greeting Bad",
      /Cannot greet: the greeting is unknown. Run with --help to see the flags of greeter/,
    ],
    [
      "run other --greeting Hi",
      /Cannot use --greeting: it belongs to the controller "greeter", and this runs "other"/,
    ],
  ];
  for (const [words, message] of cases) {
    const { code, err } = await runCommandLine(operatorOf([]), words.split(" "), { transport: server });
    assertEquals(code, 2, err);
    assertMatch(err, message);
  }
});

/** An output that a test can close. */
class FakeOutput implements TextWriter {
  readonly isTerminal = false;
  readonly columns = undefined;
  isOpen = true;
  failure: Error | undefined;
  text = "";

  write(text: string): boolean {
    if (this.isOpen) this.text += text;
    return this.isOpen;
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }
}

function sessionOf(stdout: TextWriter, clock: Clock = new VirtualClock()): Session {
  return new Session({ name: "op", controllers: [] }, { ...new TestProcess([]), stdout, clock });
}

test("[security 19] a printed line has no control characters, whatever it contains", async () => {
  const output = new FakeOutput();
  using stopping = scope(new AbortController().signal);
  const print = linePrinter({ session: sessionOf(output), stopping });
  await print("Pod a\u001b[31m\r\nPod b \u202egnp.exe\u0000");
  await print(JSON.stringify({ name: "ü\u2028\u001b" }));
  assert(!stopping.signal.aborted, "the output is open");
  assertEquals(output.text, 'Pod a\\u001b[31m\\u000d\\u000aPod b \\u202egnp.exe\\u0000\n{"name":"ü\\u2028\\u001b"}\n');
  assertEquals(JSON.parse(output.text.split("\n")[1] ?? ""), { name: "ü\u2028\u001b" });
});

test("print() fails when the output fails, and ends the run when its reader closed it", async () => {
  const output = new FakeOutput();
  using stopping = scope(new AbortController().signal);
  const print = linePrinter({ session: sessionOf(output), stopping });
  output.isOpen = false;
  output.failure = new Error("ENOSPC");
  await assertRejects(() => print("b"), /^Cannot print: ENOSPC$/);
  assert(!stopping.signal.aborted);
  output.failure = undefined;
  await print("a");
  assertEquals(stopping.signal.reason, outputClosed);
});

test("[85] a reader that leaves between two lines ends the run, without a further line", async () => {
  const output = new FakeOutput();
  const clock = new VirtualClock();
  let isReaderGone = false;
  const stdout = Object.assign(output, {
    probe: () => void (output.isOpen &&= !isReaderGone),
  });
  using stopping = scope(new AbortController().signal);
  const print = linePrinter({ session: sessionOf(stdout, clock), stopping });
  isReaderGone = true;
  await clock.advance(60_000);
  assert(!stopping.signal.aborted, "nothing was printed: a run that prints nothing goes on");
  isReaderGone = false;
  await print("a");
  await clock.advance(60_000);
  assert(!stopping.signal.aborted, "the reader waits for the next line");
  isReaderGone = true;
  await clock.advance(1_000);
  assertEquals([stopping.signal.reason, output.text], [outputClosed, "a\n"]);
});

test("[85] a run whose output was closed ends as after a signal", async () => {
  const process = createProcess(["run", "greeter"], { transport: server });
  Object.assign(process.stdout, { isOpen: false });
  const running = startCommandLine(operatorOf([]), process, server);
  assertEquals(await endOf(running, process, 100), 0, process.err);
});
