/** Tests with a real pipe: this program again, whose standard output a shell connects to a reader that leaves. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assertEquals, test } from "../../../tests/testing.ts";
import { spawn } from "./child_process.ts";
import { runtimeName } from "./process.ts";

const program = fileURLToPath(new URL("../testing/reader_probe.ts", import.meta.url));

/** Runs the program with its standard output connected to `reader`. @returns What it writes to standard error */
async function probed(reader: string, maxLooks: number): Promise<string> {
  const runtime = "Bun" in globalThis ? [process.execPath, "run"] : [process.execPath, "run", "-A", "--no-check"];
  const script = `"$@" | ${reader}`;
  const result = await spawn(["/bin/sh", "-c", script, "sh", ...runtime, program, `${maxLooks}`], {
    env: { PATH: "/usr/bin:/bin" },
  });
  return result.kind === "ended" ? result.stderr.trim() : result.kind;
}

const name = "[85] a pipe whose reader has left is noticed without a write, and one with a reader is open";
if (runtimeName === "node") test.skip(name, "Node has no foreign functions, so the next write notices it");
else {
  test(name, async () => {
    assertEquals(await probed("head -1", 1_000), "closed");
    assertEquals(await probed("cat", 1), "open");
  });
}
