/** Whether kind's machine can run here: a reason for what is missing, so that a skipped test names it. */
import { run } from "../controlplane/run.ts";
import { whyNoNode } from "../realnode/requirements.ts";

/** Beside those of a real node. */
const tools = ["nsenter", "pivot_root", "chroot", "install", "apt-get", "dpkg-deb"] as const;

/** Why kind cannot run here; undefined when it can. */
export async function whyNoKind(): Promise<string | undefined> {
  for (const tool of tools) {
    const found = await run("sh", ["-c", `command -v ${tool}`]);
    if (found.kind === "missing" || found.code !== 0) return `there is no ${tool}`;
  }
  return await whyNoNode();
}
