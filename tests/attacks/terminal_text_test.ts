/**
 * Attack: text of others on a terminal or in a log. A server, a kubeconfig, a plugin or a command line contains escape
 * sequences, characters that reverse the text, line breaks, forged log lines and secrets, at every place that a command
 * prints.
 *
 * Guarantees: whatever is printed, with and without -v, as text, JSON or YAML, has no character that moves a cursor,
 * hides or reverses text; a line of another party never begins a line of the output; what is for programs can be parsed;
 * and neither the credential of the process nor another secret is shown.
 */
import { type Random, seededRandom } from "../../src/async/mod.ts";
import { clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { TemporaryFolder } from "../../src/client/testing/temporary_folder.ts";
import { CommandError, exitCode, failureOf, Session } from "../../src/cli/command/mod.ts";
import { formatObjects, formatValue, table } from "../../src/cli/output/mod.ts";
import { statusResponse } from "../../src/cli/testing/fake_server.ts";
import { runCommandLine } from "../../src/cli/testing/run_command.ts";
import { TestProcess } from "../../src/cli/testing/test_process.ts";
import { podController, websiteController } from "../../src/cli/testing/test_kinds.ts";
import { type Line, LineWriter, logger, type Tone } from "../../src/observe/mod.ts";
import { parseYaml } from "../../src/yaml/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const operator = { name: "op", version: "1.0.0", controllers: [websiteController, podController] };

/** What must not reach a terminal: controls other than the line end, separators, bidirectional and invisible marks. */
const unsafe =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\u{e0000}-\u{e0fff}]|\p{Surrogate}/u;

/** The sequences of this program: its colours, and those that overwrite the last lines. */
// deno-lint-ignore no-control-regex
const ownSequences = /\u001b\[(?:0|2|1|90|3[1236]|31;1)m|\u001b\[[KJ]|\u001b\[\d+A|\r/g;

/** Begins each forged line: no line of the output may begin like this. */
const forged = "FORGED";

const pieces = [
  "\u001b[2J",
  "\u001b]0;title\u0007",
  "\u001b]8;;http://evil.example\u001b\\",
  "\u009b31m",
  "\u0090payload\u009c",
  "\u202ereversed",
  "\u2066isolated\u2069",
  "\u200b",
  "\ufeff",
  "\r",
  "\u0008\u0008",
  "\u0000",
  "\u2028",
  "\u00ad\u034f\u3164",
  "\u{e0041}\u{e007f}",
  "\ud800",
  "\u001b[5m",
  `\n${forged} ERROR everything is lost`,
  `\r\n${forged} op: deleted`,
  "%n%s",
  "{braces}",
  "name",
  "ü",
];

/** Texts from a seed, each with several of the pieces. */
function hostileTexts(seed: number, count: number): readonly string[] {
  const random = seededRandom(seed);
  const pick = () => pieces[Math.floor(random.next() * pieces.length)];
  return Array.from({ length: count }, () => Array.from({ length: 1 + Math.floor(random.next() * 6) }, pick).join(""));
}

/** A secret in a text, as servers repeat it. */
const secret = "hUnTeR2x7q9";
const secrets = [
  `access_token="${secret}"`,
  `Authorization: Bearer ${secret}`,
  `{\\"my_token\\":\\"${secret}\\"}`,
  `https://user:${secret}@host/`,
  `Set-Cookie: sid=${secret}`,
];
/** The credential of the process. */
const token = "kUbE-tOkEn.4711/abc+";

function withSecrets(text: string, random: Random): string {
  return `${text} ${secrets[Math.floor(random.next() * secrets.length)]}\n${text} ${token} ${btoa(`u:${token}`)}`;
}

/** A server that puts `text` wherever a response has room for it. */
function hostileServer(text: string, code: number) {
  return (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/version") {
      return Promise.resolve(
        code === 200
          ? Response.json({ gitVersion: `v1.36.0${text}` }, { headers: { warning: `299 - "${latin1(text)}"` } })
          : statusResponse(code, text, text),
      );
    }
    if (pathname.includes("selfsubjectaccessreviews")) {
      return Promise.resolve(Response.json({ status: { allowed: false } }));
    }
    if (pathname.includes("customresourcedefinitions")) return Promise.resolve(statusResponse(409, text, text));
    return Promise.resolve(statusResponse(422, text, `${text} is invalid`));
  };
}

/** What a header can contain of a text. */
function latin1(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/[^\u0001-\u0009\u000b\u000c\u000e-\u00ff]|["\\\\]/gu, "");
}

function assertSafe(output: string, about: string): void {
  for (const hidden of [secret, token, btoa(`u:${token}`).slice(4, 20)]) {
    assert(!output.includes(hidden), `${about}: ${hidden} in ${output}`);
  }
  const found = unsafe.exec(output);
  assertEquals(found === null ? "" : JSON.stringify(output.slice(found.index - 40, found.index + 20)), "", about);
  assert(
    !output.split("\n").some((line) => line.startsWith(forged)),
    `${about}: a forged line in ${output}`,
  );
}

const lines = [
  "version",
  "version -v",
  "version -o json",
  "version -o yaml",
  "doctor",
  "doctor -v --log-format json",
  "doctor -o json",
  "doctor -o yaml",
  "install-crds -v",
  "install-crds --diff",
  "uninstall-crds --yes -v",
  "run website --connect-timeout 1s -v",
  "run --all --connect-timeout 1s --log-format json -v",
];

test("[security 19] text of a server cannot control the terminal or forge a line, in any command and format", async () => {
  const random = seededRandom(3);
  for (const [index, hostile] of hostileTexts(1, 12).entries()) {
    for (const line of lines) {
      const code = [200, 200, 403, 500][index % 4] ?? 200;
      const text = withSecrets(hostile, random);
      const args = [...line.split(" "), "--token", token];
      const { out, err } = await runCommandLine(operator, args, { transport: hostileServer(text, code) });
      assertSafe(out, `stdout of ${line}, ${JSON.stringify(text)}`);
      assertSafe(err, `stderr of ${line}, ${JSON.stringify(text)}`);
      if (line.endsWith("-o json")) JSON.parse(out);
      if (line.endsWith("-o yaml")) assertEquals(typeof parseYaml(out).value(), "object");
    }
  }
});

test("[security 19] text on the command line and in variables cannot control the terminal that shows the error", async () => {
  for (const text of hostileTexts(2, 40)) {
    const commands = [
      [text],
      ["help", text],
      ["run", text],
      ["run", `--${text}`],
      ["run", "website", "-n", text],
      ["run", "website", "--selector", text],
      ["run", "website", "--context", text],
      ["run", "website", "--server", text],
      ["version", "--kubeconfig", `/nonexistent/${text}`, "-v"],
      ["new", text],
      ["completions", text],
    ];
    for (const args of commands) {
      const { code, out, err } = await runCommandLine(operator, args, { environment: { OP_WORKERS: text } });
      assert(code !== 0, JSON.stringify(args));
      assertSafe(out, `stdout of ${JSON.stringify(args)}`);
      assertSafe(err, `stderr of ${JSON.stringify(args)}`);
      assert(err.length < 20_000);
    }
  }
});

test("[security 19] names of a kubeconfig cannot control the terminal", async () => {
  const random = seededRandom(4);
  for (const hostile of hostileTexts(4, 30)) {
    const text = withSecrets(hostile, random);
    const entries = (
      kind: string,
      value: object,
    ) => [{ name: text, [kind]: value }, { name: `x${text}`, [kind]: value }];
    const config = {
      clusters: entries("cluster", { server: random.next() < 0.5 ? `https://${text}` : "https://10.0.0.1" }),
      users: entries(
        "user",
        random.next() < 0.5 ? { exec: { command: text, apiVersion: text } } : { "client-key": text },
      ),
      contexts: entries("context", { cluster: text, user: random.next() < 0.5 ? text : "missing", namespace: text }),
      "current-context": random.next() < 0.5 ? text : `${text}missing`,
    };
    await using folder = await TemporaryFolder.with({ config: JSON.stringify(config), broken: `{ "${text}` });
    for (const name of ["config", "broken", hostile.replaceAll("\u0000", "").replaceAll("/", "")]) {
      for (const command of ["version -v", "doctor", "install-crds -v --log-format json", "run website -v"]) {
        const args = [...command.split(" "), "--kubeconfig", `${folder.path}/${name}`, "--token", token];
        const { code, out, err } = await runCommandLine(operator, args);
        assert(code !== 0, `${command} with ${name}`);
        assertSafe(out, `stdout of ${command}`);
        assertSafe(err, `stderr of ${command}`);
      }
    }
  }
});

test("[security 19] the output of an exec plugin cannot control the terminal that shows its error", async () => {
  const random = seededRandom(5);
  for (const hostile of hostileTexts(5, 6)) {
    const text = withSecrets(hostile, random);
    await using folder = await TemporaryFolder.with({ text });
    const plugin = await folder.write(
      "plugin",
      `#!/bin/sh\ncat '${folder.path}/text' >&2\ncat '${folder.path}/text'\nexit 3\n`,
    );
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: plugin,
      interactiveMode: "Never",
      installHint: text,
    };
    const config = {
      clusters: [{ name: "c", cluster: { server: "https://10.0.0.1" } }],
      users: [{ name: "u", user: { exec } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      "current-context": "c",
    };
    await folder.write("config", JSON.stringify(config));
    const environment = { KUBECONFIG: `${folder.path}/config`, PATH: "/usr/bin:/bin" };
    const access = await loadClusterAccess({ environment, workingDirectory: folder.path, overrides: {} });
    using transport = clusterTransport(access, { environment });
    const error = await transport(new Request("https://10.0.0.1/version")).catch((error: unknown) => error);
    assert(error instanceof Error && error.message.includes("ended with code 3"), String(error));
    for (const format of ["text", "json"] as const) assertSafe(shownError(error, format), "the error of a plugin");
  }
});

/** What a session shows of an error with -v. */
function shownError(error: unknown, logFormat: "text" | "json"): string {
  const process = new TestProcess([], {}, { isTerminal: true });
  using session = new Session(operator, process);
  session.startLogging({ verbose: 1, logFormat });
  session.printError(failureOf(error), error);
  assert(process.err !== "" && process.out === "", "the error is shown on stderr");
  return process.err.replaceAll(ownSequences, "");
}

/** Errors of every kind with `text` in every place. */
const errors: readonly ((text: string) => unknown)[] = [
  (text) => new Error(text),
  (text) => new TypeError(text, { cause: new RangeError(text) }),
  (text) => Object.assign(new TypeError("x"), { stack: `TypeError: x\n    at ${text} (file:///a.ts:1:1)` }),
  (text) => Object.assign(new Error("x"), { name: text }),
  (text) => new AggregateError([new Error(text), text], text),
  (text) => new CommandError(text, { code: exitCode.failed, advice: text }),
  (text) => text,
  (text) => ({ [text]: text }),
];

test("[security 19] an error cannot control the terminal, whatever its message, name, stack and causes are", () => {
  const random = seededRandom(6);
  for (const hostile of hostileTexts(6, 60)) {
    const text = withSecrets(hostile, random);
    for (const error of errors) {
      for (const format of ["text", "json"] as const) {
        const shown = shownError(error(text), format);
        assertSafe(shown, `an error as ${format}`);
        if (format === "json") { for (const line of shown.trimEnd().split("\n")) JSON.parse(line); }
      }
    }
  }
});

test("[security 19] on a terminal only our own sequences remain of messages, progress, live lines, questions, logs", async () => {
  const random = seededRandom(7);
  for (const hostile of hostileTexts(7, 60)) {
    const text = withSecrets(hostile, random);
    const process = new TestProcess([], {}, { isTerminal: true, answers: ["y"] });
    using session = new Session({ ...operator, name: "op" }, process);
    session.startLogging({ verbose: 1, logFormat: "text" });
    session.info(text);
    logger("controller", text).warn(text, { [text]: text, error: new TypeError(text), nested: [{ [text]: text }] });
    {
      using progress = session.progress();
      progress.report(text);
      using live = session.liveLines();
      const shown = hostile + token;
      live?.show([
        shown,
        { text: shown, tone: "error" },
        [shown, { text: shown, tone: "strong" }],
        ...table([["cell", shown]]),
      ]);
    }
    await session.prompt(`Delete ${text}?`);
    assertSafe(process.err.replaceAll(ownSequences, ""), "stderr of a terminal");
    session.print(hostile, [hostile, { text: hostile, tone: "success" }], token);
    session.print(...table([["cell", { text: hostile, tone: "muted" }], [token, hostile]]));
    assertSafe(process.out.replaceAll(ownSequences, ""), "stdout of a terminal");
    assertEquals(process.out.split("\n").length, 6);
  }
});

test("[security 19] a LineWriter writes each line as one line, and cuts lines of a status between escapes and styles", () => {
  const random = seededRandom(8);
  const tones: readonly Tone[] = ["success", "error", "warning", "muted", "strong", "info", "faint", "fatal"];
  for (const text of hostileTexts(8, 200)) {
    const cell = () =>
      random.next() < 0.5 ? text : { text, tone: tones[Math.floor(random.next() * tones.length)] ?? "error" };
    const lines = Array.from(
      { length: 1 + Math.floor(random.next() * 5) },
      (): Line => random.next() < 0.5 ? cell() : [cell(), cell()],
    );
    let written = "";
    const columns = 5 + Math.floor(random.next() * 60);
    const output = { write: (part: string) => written += part, columns };
    const writer = new LineWriter(output, { hasColors: true });
    writer.writeLines(...lines);
    assertEquals(written.split("\n").length, lines.length + 1);
    assertSafe(written.replaceAll(ownSequences, ""), "lines");
    written = "";
    writer.showStatus(...lines);
    const shown = written.replaceAll(ownSequences, "").split("\n");
    assertEquals(shown.length, lines.length);
    assert(shown.every((line) => line.length < Math.max(11, columns)), `${columns} columns: ${JSON.stringify(shown)}`);
    assertSafe(shown.join("\n"), "a status");
  }
});

test("[security 19] objects and values of others are valid YAML and JSON with the same content, without unsafe characters", () => {
  for (const text of hostileTexts(9, 100)) {
    // A lone surrogate has no meaning in YAML.
    const value = text.toWellFormed();
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: value }, data: { [`k${value}`]: value } };
    for (const format of ["yaml", "json"] as const) {
      for (const shown of [formatObjects([object], format), formatValue(object, format)]) {
        assertSafe(shown, format);
        assertEquals(format === "json" ? JSON.parse(shown) : parseYaml(shown).value(), object);
      }
    }
    const list = formatObjects([object, object], "yaml");
    assertSafe(list, "a stream");
  }
});
