/**
 * The CPU time that the released binary needs for a kubeconfig of 1 MB that makes work: many keys, aliases, nesting,
 * duplicates. The most expensive file counts. The server that they name does not run, so each run ends by itself.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MeasuredProcess } from "../measured_process.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

const fileBytes = 1_000_000;
const valid = "apiVersion: v1\nkind: Config\ncurrent-context: a\n" +
  "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:9'}}]\n" +
  "contexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n";

function filled(part: (index: number) => string): string {
  const parts: string[] = [];
  for (let bytes = 0; bytes < fileBytes; bytes += parts.at(-1)?.length ?? 1) parts.push(part(parts.length));
  return parts.join("");
}

const files: readonly string[] = [
  `${valid}extra:\n${filled((at) => `  k${at}: 1\n`)}`,
  `${valid}extra:\n${filled(() => "  k: 1\n")}`,
  `${valid}extra:\n${filled((at) => `  - &a${at} x\n`)}`,
  `${valid}x: &x [1]\nextra:\n${filled(() => "  - *x\n")}`,
  `${valid}extra: ${filled(() => "[")}`,
  `${valid}extra: ${filled(() => "{a: ")}`,
  `${valid}extra:\n${filled((at) => `${" ".repeat(2 + at)}k:\n`)}`,
  `${valid}extra:\n${filled(() => "  - - - - a\n")}`,
  `${valid}extra: "${filled(() => "\\x41")}"\n`,
  `${valid}extra: |\n${filled(() => "  a\n\n")}`,
  `${valid}${filled((at) => `# ${at}\n`)}`,
  filled(() => "---\n"),
  valid.replace("contexts: [", `contexts: [${filled((at) => `{name: x${at}, context: {cluster: a, user: a}}, `)}`),
  valid.replace("users: [", `users: [${filled((at) => `{name: x${at}, user: {token: t}}, `)}`),
  valid.replace("user: {}", `user: {as: a, as-user-extra: {${filled((at) => `k${at}: [a], `)}}}`),
  valid.replace("user: {}", `user: {token: '${filled(() => "t")}'}`),
  valid.replace("127.0.0.1:9", `127.0.0.1:9/${filled(() => "a/../")}`),
  `{"apiVersion":"v1","kind":"Config","extra":${filled(() => "[")}`,
  `{"apiVersion":"v1","kind":"Config"${filled(() => ',"a":1')}}`,
  `${valid}a0: &a0 [x]\n${filled((at) => `a${at + 1}: &a${at + 1} [*a${at},*a${at}]\n`)}`,
  `${valid}base: &b {a: 1}\nextra:\n${filled((at) => `  m${at}:\n    <<: *b\n`)}`,
  `${valid}extra:\n${filled((at) => `  k${at}: 1\n`)}`.replaceAll("\n", "\r\n"),
  `${valid}${filled(() => "\ta: b\n")}`,
  `${valid}extra:\n  ${filled(() => "- ")}a\n`,
];

/** Reads hostile kubeconfigs. */
export const hostileKubeconfigCase: Case = {
  name: "hostile-kubeconfig",
  title: () => `the released binary and hostile kubeconfigs of ${fileBytes / 1e6} MB`,
  subjects: [{ name: ours, program: "controller", args: ["run", "foo", "--once", "--connect-timeout=1s"] }],
  makesOwnLoad: true,
  run: async (setting: Setting): Promise<Outcome> => ({ samples: await interleaved(setting, measureAll), facts: {} }),
};

async function measureAll(subject: Subject): Promise<Sample["values"]> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-bench-hostile-"));
  try {
    let cpuMs = 0, maxRssBytes = 0;
    for (const text of files) {
      const path = join(folder, "kubeconfig");
      writeFileSync(path, text);
      const args = [...subject.args, `--kubeconfig=${path}`];
      await using program = new MeasuredProcess({
        command: commandOf(subject.program, args, subject.checkout),
        env: {},
      });
      try {
        for (;; await sleep(5)) {
          const usage = program.usage();
          cpuMs = Math.max(cpuMs, usage.cpuMs);
          maxRssBytes = Math.max(maxRssBytes, usage.maxRssBytes);
        }
      } catch { /* It has ended. */ }
    }
    return { cpuMs, maxRssBytes };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
