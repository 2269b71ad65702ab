/** A program that starts another one and ends before it: `leaving_parent.ts FILE`, where the other one writes its process id. */
import { existsSync } from "node:fs";
import process from "node:process";
import { spawn } from "../process/child_process.ts";
import { nextTurn } from "../process/process.ts";

const [file = ""] = process.argv.slice(2);
void spawn(["/bin/sh", "-c", 'echo $$ > "$1.part"; mv "$1.part" "$1"; exec sleep 1000', "sh", file], {
  env: { PATH: "/usr/bin:/bin" },
});
while (!existsSync(file)) await nextTurn();
process.exit(0);
