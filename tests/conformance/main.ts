/**
 * Runs the conformance suite manually, on a running control plane:
 *
 *   deno task cluster -- deno run -A tests/conformance/main.ts            shows every difference
 *   deno task cluster -- deno run -A tests/conformance/main.ts WORDS      only of cases whose group or name has WORDS
 *   deno task conformance --record                                        writes recordings/
 */
import process from "node:process";
import { ControlPlane } from "../controlplane/mod.ts";
import { caseGroups } from "./cases/mod.ts";
import { type ConformanceCase, expectationOf } from "./conformance_case.ts";
import { EmbeddedHost } from "./embedded_host.ts";
import { RealHost } from "./real_host.ts";
import { isRecorded, writeRecording } from "./recordings.ts";
import { differenceOf, type Host, type Transcript, transcriptOf } from "./transcript.ts";

async function attempt(host: Host, subject: ConformanceCase): Promise<Transcript> {
  try {
    return await transcriptOf(host, subject);
  } catch (error) {
    return [{ request: "run the case", code: 0, type: "", warnings: [], response: String(error) }];
  }
}

async function differences(real: Host, words: readonly string[]): Promise<number> {
  let [count, agreeing, unexpected] = [0, 0, 0];
  for (const { group, cases } of caseGroups) {
    for (const subject of cases) {
      if (!words.every((word) => `${group}: ${subject.name}`.includes(word))) continue;
      await using embedded = await EmbeddedHost.start(subject, controlPlane.description.binaries.kubectl);
      const left = await transcriptOf(real, subject);
      const right = await attempt(embedded, subject);
      const difference = differenceOf(left, right);
      count++;
      if (difference === "") agreeing++;
      if ((difference === "") === (expectationOf(subject) === "agrees")) continue;
      unexpected++;
      console.log(`==== ${group}: ${subject.name}\n${difference === "" ? "agrees, though marked" : difference}`);
    }
  }
  console.log(`${count} cases, ${agreeing} agree, ${unexpected} not as expected`);
  return unexpected === 0 ? 0 : 1;
}

async function record(real: Host, words: readonly string[]): Promise<number> {
  let failed = 0;
  for (const { group, cases } of caseGroups) {
    const recorded = cases.filter(isRecorded);
    if (recorded.length === 0 || !words.every((word) => group.includes(word))) continue;
    const transcripts = new Map<string, Transcript>();
    for (const subject of recorded) {
      try {
        transcripts.set(subject.name, await transcriptOf(real, subject));
      } catch (error) {
        failed++;
        console.error(`Cannot record ${group}: ${subject.name}:`, error);
      }
    }
    writeRecording(group, transcripts);
  }
  return failed === 0 ? 0 : 1;
}

const words = process.argv.slice(2).filter((word) => !word.startsWith("--"));
await using controlPlane = await ControlPlane.attach();
using real = new RealHost(controlPlane);
process.exitCode = await (process.argv.includes("--record") ? record : differences)(real, words);
