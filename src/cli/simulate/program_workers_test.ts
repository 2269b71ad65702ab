/** A worker is not process 1 of its PID namespace, so what killed processes leave behind is reaped. */
import { spawn } from "../../runtime/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { canHaveNamespaces, ownNamespaces } from "./program_workers.ts";

const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const title = "the namespaces of a worker keep no defunct process of a program that has started others";

if (!await canHaveNamespaces(env)) test.skip(title, "processes cannot have namespaces here");
else {
  test(title, async () => {
    // timeout waits for the command that it has started only, as the runtime of a worker does.
    const command = ["timeout", "20", "sh", "-c"];
    const program = ['sh -c "sleep 0.1 &"', "sleep 1", "grep -l ') Z ' /proc/[0-9]*/stat | wc -l"].join("\n");
    const result = await spawn([...ownNamespaces, ...command, program], { env, timeoutMs: 30_000 });
    assertEquals(result.kind === "ended" ? [result.code, result.stdout.trim()] : result, [0, "0"]);
  });
}
