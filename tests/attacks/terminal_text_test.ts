/**
 * Attack: text of others on a terminal or in a log. A server, a kubeconfig or a command line contains escape sequences,
 * characters that reverse the text, line breaks and forged log lines, at every place that a command prints.
 *
 * Guarantees: whatever is printed, with and without -v, as text, JSON or YAML, has no character that moves a cursor,
 * hides or reverses text, and a line of another party never begins a line of the output.
 */
import { seededRandom } from "../../src/async/mod.ts";
import { statusResponse } from "../../src/cli/testing/fake_server.ts";
import { runCommandLine } from "../../src/cli/testing/run_command.ts";
import { podController, websiteController } from "../../src/cli/testing/test_kinds.ts";
import { assert, assertEquals, test } from "../testing.ts";

const operator = { name: "op", version: "1.0.0", controllers: [websiteController, podController] };

/** What must not reach a terminal: controls other than the line end, line separators, bidirectional and invisible marks. */
// deno-lint-ignore no-control-regex
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;

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

/** A server that puts `text` wherever a response has room for it. */
function hostileServer(text: string, code: number) {
  return (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/version") {
      return Promise.resolve(
        code === 200
          ? Response.json({ gitVersion: `v1.36.0${text}` }, { headers: { warning: '299 - "old"' } })
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

function assertSafe(output: string, about: string): void {
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
  for (const [index, text] of hostileTexts(1, 12).entries()) {
    for (const line of lines) {
      const code = [200, 200, 403, 500][index % 4] ?? 200;
      const { out, err } = await runCommandLine(operator, line.split(" "), { transport: hostileServer(text, code) });
      assertSafe(out, `stdout of ${line}, ${JSON.stringify(text)}`);
      assertSafe(err, `stderr of ${line}, ${JSON.stringify(text)}`);
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
