/** Tests of the /proc parser, with text as the kernel writes it. */
import { assert, assertEquals, assertThrows, test } from "../tests/testing.ts";
import { childrenCpuMs, parseChildrenCpuMs, parseUsage, usageOf } from "./usage.ts";
import { execFileSync } from "node:child_process";
import process from "node:process";

const status =
  "Name:\tpeers\nVmPeak:\t 1270000 kB\nVmHWM:\t  138240 kB\nVmRSS:\t   70000 kB\nRssAnon:\t   50000 kB\nThreads:\t9\n";

test("parseUsage() adds user and system time and converts memory from kibibytes", () => {
  const stat = "4711 (peers) S 1 4711 4711 0 -1 4194304 900 0 0 0 123 45 0 0 20 0 9 0 1000 1270000000 17500 18446";
  const [rssBytes, anonymousBytes, maxRssBytes] = [70_000 * 1024, 50_000 * 1024, 138_240 * 1024];
  assertEquals(parseUsage(stat, status), { cpuMs: 1680, rssBytes, anonymousBytes, maxRssBytes });
});

test("parseUsage() accepts brackets and spaces in the name of the program", () => {
  const stat = "4711 (a ) (b) 9) S 1 4711 4711 0 -1 4194304 900 0 0 0 7 3 0 0 20 0 9 0 1000 1270000000 17500 18446";
  assertEquals(parseUsage(stat, status).cpuMs, 100);
});

test("parseUsage() names the missing value in its error", () => {
  const stat = "4711 (peers) Z 1 4711 4711 0 -1 4194304 900 0 0 0 7 3 0 0 20 0 1 0 1000 0 0 18446";
  assertThrows(() => parseUsage(stat, "Name:\tpeers\nState:\tZ (zombie)\n"), /no VmRSS/);
  assertThrows(() => parseUsage("", status), /CPU time/);
});

test("usageOf() reads the usage of the current process", () => {
  const usage = usageOf(process.pid);
  assert(usage.cpuMs > 0 && usage.maxRssBytes >= usage.rssBytes && usage.rssBytes > 0);
});

test("parseChildrenCpuMs() adds user and system time of ended children only", () => {
  const stat = "4711 (a ) (b) 9) S 1 4711 4711 0 -1 4194304 900 0 0 0 7 3 50 4 20 0 9 0 1000 1270000000 17500 18446";
  assertEquals(parseChildrenCpuMs(stat), 540);
  assertThrows(() => parseChildrenCpuMs(""), /CPU time of a process's children/);
});

test("childrenCpuMs() grows by the CPU time of a child that has ended", () => {
  const before = childrenCpuMs();
  execFileSync("sh", ["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
  assert(childrenCpuMs() > before);
});
