/**
 * Writes docs/PEERS.md from tests/peers.yaml.
 *
 *   deno run -A tasks/peers.ts           writes the page
 *   deno run -A tasks/peers.ts --check   writes nothing and exits with 1 if the page is out of date
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { peerRows, peersPage } from "./_peers.ts";
import { root } from "./_root.ts";

const page = join(root, "docs", "PEERS.md");

function main(isCheck: boolean): number {
  const text = peersPage(peerRows());
  if (existsSync(page) && readFileSync(page, "utf8") === text) return 0;
  if (!isCheck) {
    writeFileSync(page, text);
    return 0;
  }
  console.error("Cannot accept docs/PEERS.md: it is out of date. Run: deno task peers");
  return 1;
}

process.exitCode = main(process.argv.includes("--check"));
