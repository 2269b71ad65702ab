/**
 * What HTTP/2 changes for the API server of `dev`: a client in Go with many watches that all get every change, in HTTP/2
 * and in HTTP/1.1 in turn, on a new server each.
 *
 *   deno run -A bench/micro/watches.ts [watches] [writes] [rounds]     (default: 80 500 5; needs ./compile.sh and Go)
 *
 * The CPU and the peak memory are those of the server, from /proc.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { z } from "zod";
import { median } from "../statistics.ts";

const run = promisify(execFile);
const [watches = "80", writes = "500", rounds = "5"] = process.argv.slice(2);
const binary = resolve(process.env["CONTROLLER_BINARY"] ?? "dist/controller");
const line = z.object({
  openedMs: z.number(),
  ms: z.number(),
  cpuMs: z.number(),
  maxRssKb: z.number(),
  connections: z.number(),
});
const protocols = ["h2", "http/1.1"] as const;

const folder = await mkdtemp(join(tmpdir(), "pintle-watches-"));
try {
  const program = join(folder, "peer-go");
  await run("go", ["build", "-o", program, "."], { cwd: join(import.meta.dirname ?? ".", "..", "peers", "go") });
  const samples = new Map(protocols.map((protocol) => [protocol, [] as z.infer<typeof line>[]]));
  for (let round = 0; round < Number(rounds); round++) {
    for (const protocol of protocols) {
      const command = [program, "watches", "--count", watches, "--writes", writes, "--protocol", protocol];
      const { stdout } = await run(binary, ["dev", "--bare", "-q", "--", ...command]);
      samples.get(protocol)?.push(line.parse(JSON.parse(stdout)));
    }
  }
  for (const [protocol, measured] of samples) {
    const of = (value: (sample: z.infer<typeof line>) => number) => Math.round(median(measured.map(value)));
    const mebibytes = of(({ maxRssKb }) => maxRssKb / 1024);
    console.log(
      `${protocol.padEnd(9)} ${of(({ connections }) => connections)} connections, opened in ${
        of(({ openedMs }) => openedMs)
      } ms, all in ${of(({ ms }) => ms)} ms, CPU ${of(({ cpuMs }) => cpuMs)} ms, peak ${mebibytes} MiB`,
    );
  }
} finally {
  await rm(folder, { recursive: true });
}
