/**
 * Runs the conformance suite manually.
 *
 *   deno task conformance [WORDS]           shows where the embedded server and a real one differ
 *   deno task conformance --record [GROUP]  records a real one into tests/conformance/recordings/
 *   deno task conformance --page            writes docs/CONFORMANCE.md, and needs no control plane
 *   deno task conformance --page --check    writes nothing and exits 1 if the page is out of date
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { conformancePage } from "../tests/conformance/page.ts";
import { root } from "./_root.ts";

const page = join(root, "docs", "CONFORMANCE.md");

/** Formats the page as `deno fmt` does, so that it passes the gate's own check. */
function formatted(text: string): string {
  const options = { cwd: root, input: text, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync("deno", ["fmt", "--ext", "md", "-"], options);
  if (status !== 0) throw new Error(`Cannot format the page: ${stderr}`);
  return stdout;
}

async function writePage(isCheck: boolean): Promise<number> {
  const text = formatted(await conformancePage());
  const present = existsSync(page) ? readFileSync(page, "utf8") : "";
  if (present === text) return 0;
  if (!isCheck) {
    writeFileSync(page, text);
    return 0;
  }
  console.error("Cannot accept docs/CONFORMANCE.md: it is out of date, run deno task conformance --page");
  return 1;
}

function onControlPlane(args: readonly string[]): number {
  const suite = ["deno", "run", "-A", "tests/conformance/main.ts", ...args];
  const command = ["run", "-A", "tests/controlplane/with.ts", "--", ...suite];
  return spawnSync("deno", command, { cwd: root, stdio: "inherit" }).status ?? 1;
}

const args = process.argv.slice(2);
process.exitCode = args.includes("--page") ? await writePage(args.includes("--check")) : onControlPlane(args);
