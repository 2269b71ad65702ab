/** Tests of the commands that start the measured programs. */
import { assert, assertEquals, test } from "../tests/testing.ts";
import { commandOf } from "./programs.ts";

test("commandOf() puts the flags of the JVM before the class and the subcommand after it", () => {
  const command = commandOf("javaSmall", ["reconcile", "--workers=10"]);
  assertEquals(command.slice(0, 3), ["java", "-Xmx512m", "-XX:+UseSerialGC"]);
  assertEquals(command.slice(-3), ["bench.Main", "reconcile", "--workers=10"]);
});

test("commandOf() starts the JVM without flags of memory if its defaults are measured", () => {
  const command = commandOf("java", ["sync"]);
  assert(!command.some((part) => part.startsWith("-X")), command.join(" "));
});

test("commandOf() starts our own program of another checkout", () => {
  assertEquals(commandOf("pintle", ["sync"], "/other"), ["/other/dist/bench/pintle", "sync"]);
});
