/** Twins, as real processes of whatever runtime this is. */
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { runtimeName } from "./runtime_name.ts";
import { coreCount, startTwin } from "./twin.ts";

const script = fileURLToPath(new URL("./_twin_test_data.ts", import.meta.url));
const command = [process.execPath, ...(runtimeName === "deno" ? ["run", "-A"] : []), script];

test("a twin answers in the order in which it is asked, and what it prints besides is no answer", async () => {
  using twin = startTwin(command, process.env);
  assertEquals(await Promise.all(["one", "two", "größe"].map((line) => twin.ask(line))), ["ONE", "TWO", "GRÖSSE"]);
});

test("whoever asks a twin that ends is told so, and so is everybody after them", async () => {
  using twin = startTwin(command, process.env);
  for (const line of ["end", "more"]) {
    const error = await assertRejects(() => twin.ask(line));
    assert(error instanceof Error && error.message.startsWith("Cannot ask process"), String(error));
  }
});

test("a program that is not there is a twin that answers nothing", async () => {
  using twin = startTwin(["/no/such/program"], {});
  await assertRejects(() => twin.ask("one"));
});

test("there is at least one core", () => assert(coreCount() >= 1));
