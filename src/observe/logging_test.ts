import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { configureLogging, type Logger, logger, type LoggingOptions, muteLogging } from "./mod.ts";

/** The text written while `log` runs, at 2026-01-01T00:00:00.000Z. */
function written(options: Partial<LoggingOptions>, log: (log: Logger) => void): string {
  let text = "";
  using _logging = configureLogging({ now: () => Date.UTC(2026, 0, 1), write: (part) => text += part, ...options });
  log(logger("reflector"));
  return text;
}

test("in text format a record is one line: time, level, category, message, fields", () => {
  assertEquals(
    written({ level: "debug" }, (log) => {
      log.info("Listed objects", { kind: "Foo", count: 3, key: "default/a", note: "two words", on: true });
      log.with({ watch: 1 }).warn("Watch ended");
      log.error("Stopped");
      log.debug("Seen {braces} and %s");
    }),
    `2026-01-01T00:00:00.000Z INFO  reflector    Listed objects                           kind=Foo count=3 key=default/a note="two words" on=true
2026-01-01T00:00:00.000Z WARN  reflector    Watch ended                              watch=1
2026-01-01T00:00:00.000Z ERROR reflector    Stopped
2026-01-01T00:00:00.000Z DEBUG reflector    Seen {braces} and %s
`,
  );
});

test("in JSON format a record is one object on one line", () => {
  const text = written({ format: "json" }, (log) => {
    log.info("Listed\nobjects", { kind: "Foo", nested: { a: [1, null] }, level: "mine", gone: undefined });
  });
  assertEquals(text.split("\n").length, 2);
  assertEquals(JSON.parse(text), {
    ts: "2026-01-01T00:00:00.000Z",
    level: "info",
    logger: "reflector",
    msg: "Listed\\u000aobjects",
    kind: "Foo",
    nested: { a: [1, null] },
    "field.level": "mine",
  });
});

test("records below the level are not written, and no record without a configuration", () => {
  const all = (log: Logger) => {
    log.debug("d");
    log.info("i");
    log.warn("w");
    log.error("e");
  };
  const lines = (text: string) => text.split("\n").length - 1;
  assertEquals(
    (["debug", "info", "warn", "error"] as const).map((level) => lines(written({ level }, all))),
    [4, 3, 2, 1],
  );
  let late = "";
  configureLogging({ write: (text) => late += text })[Symbol.dispose]();
  logger("x").error("After the end");
  assertEquals(late, "");
});

test("a silent category logs nothing, not even errors, unless the level is debug", () => {
  const records = (level: "info" | "debug") =>
    written({ level, silent: ["controller.kubelet"] }, (log) => {
      logger("controller", "kubelet").error("of the cluster");
      logger("controller", "foo").warn("of the user");
      log.info("other");
    });
  assert(!records("info").includes("of the cluster") && records("info").includes("of the user"));
  assert(records("debug").includes("of the cluster"));
});

const hostile = "a\u001b[31mred\u001b[0m\r\n2026 INFO fake\u0000\u007f\u009b\u202eevil\u2066\u2028\u200b\ufeff\ud800";
// deno-lint-ignore no-control-regex
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\p{Surrogate}/u;

for (const format of ["text", "json"] as const) {
  test(`[security 19] control characters in names, fields, messages and errors are escaped in ${format}`, () => {
    const text = written({ format, level: "debug" }, (log) => {
      log.info(hostile, { [hostile]: hostile, nested: { [hostile]: [hostile] }, list: [hostile] });
      logger(hostile).info("x");
    });
    assert(!unsafe.test(text), JSON.stringify(text));
    assertEquals(text.split("\n").length, 3);
    if (format === "json") assertEquals(JSON.parse(text.split("\n")[0] ?? "").list[0].includes("\u001b[31m"), true);
  });

  test(`[security 19] the message and the stack of an error cannot begin a record in ${format}`, () => {
    const text = written({ format, level: "debug" }, (log) => log.error("Failed", { error: new Error(hostile) }));
    assert(!unsafe.test(text), JSON.stringify(text));
    assert(text.split("\n").slice(1, -1).every((line) => line.startsWith("    ")), text);
    if (format === "json") assertEquals(text.split("\n").length, 2);
  });

  test(`[security 19] a field is at most 4 KiB in ${format}`, () => {
    const text = written({ format }, (log) => {
      log.info("Big", { text: "x".repeat(1_000_000), list: Array.from({ length: 100 }, () => "y".repeat(1_000)) });
    });
    assert(text.length < 2 * 4_096 + 300, `${text.length} characters`);
    assertStringIncludes(text, "characters]");
    if (format === "json") assertEquals(JSON.parse(text).msg, "Big");
  });

  test(`[security 5] no secret reaches the ${format} output at any level`, () => {
    const canary = "cAnArY-7f3a9b";
    const error = new Error(`Cannot authenticate: Bearer ${canary}`, { cause: { token: canary } });
    const text = written({ format, level: "debug" }, (log) => {
      log.debug(`Sent Authorization: Bearer ${canary}`, { authorization: canary, error, errors: [error] });
      log.with({ token: canary }).info("Read", {
        object: { kind: "Secret", data: { a: canary } },
        headers: new Headers({ cookie: canary }),
      });
    });
    assert(!text.includes(canary), text);
    assertStringIncludes(text, "masked");
  });
}

test("an error is shown as its message and its causes, a plain one with the stack at level debug only", () => {
  const fail = (log: Logger) => {
    log.error("Reconcile failed", { error: new Error("Cannot update Foo: conflict", { cause: new Error("409") }) });
  };
  const short = written({ level: "info" }, fail);
  assertStringIncludes(short, 'error="Cannot update Foo: conflict: caused by: 409"\n');
  assertEquals(short.split("\n").length, 2);
  const long = written({ level: "debug" }, fail);
  assert(long.split("\n").length > 4);
  assert(long.split("\n").slice(1, -1).every((line) => line.startsWith("    ")), long);
  assertEquals(JSON.parse(written({ level: "info", format: "json" }, fail)).stack, undefined);
  assertStringIncludes(JSON.parse(written({ level: "debug", format: "json" }, fail)).stack, "logging_test.ts");
});

test("a rejection without a reason is a field of the record, too", () => {
  const text = written({}, (log) => log.warn("failed", { error: undefined, other: undefined }));
  assertStringIncludes(text, 'error="undefined was thrown instead of an Error"\n');
  assertEquals(text.includes("other"), false);
});

test("the stack of a defect is shown at every level, that of an expected error at none", () => {
  class ConflictError extends Error {}
  const fail = (log: Logger) => {
    log.error("reconcile failed", { error: new Error("Cannot go on", { cause: new TypeError("x is undefined") }) });
    log.warn("reconcile failed", { error: new ConflictError("409", { cause: new TypeError("never shown") }) });
  };
  const short = written({ level: "info" }, fail);
  assertStringIncludes(short, "\n    TypeError: x is undefined\n");
  assert(!short.includes("    Error: Cannot go on"), short);
  for (const text of [short, written({ level: "debug" }, fail)]) assert(!text.includes("    TypeError: never"), text);
  const [first = "", second = ""] = written({ level: "info", format: "json" }, fail).split("\n");
  assertStringIncludes(JSON.parse(first).stack, "logging_test.ts");
  assertEquals(JSON.parse(second).stack, undefined);
});

test("a warning that repeats itself is written once in 30 s with its number; numbers in fields do not matter", () => {
  const repeat = (log: Logger, clock: { now: number }) => {
    for (let retries = 0; retries < 40; retries++, clock.now += 1_000) {
      log.warn("reconcile failed, retrying", { key: "default/a", retries, error: new Error("409") });
      log.info("still here", { key: "default/a" });
    }
    log.warn("reconcile failed, retrying", { key: "default/b", retries: 0, error: new Error("409") });
  };
  const linesAt = (level: "info" | "debug", format: "text" | "json") => {
    const clock = { now: 0 };
    let text = "";
    const logging = configureLogging({ level, format, now: () => clock.now, write: (part) => text += part });
    repeat(logger("controller"), clock);
    logging[Symbol.dispose]();
    return text.split("\n").filter((line) => line.includes("retrying"));
  };
  const found = linesAt("info", "json").map((line) => JSON.parse(line));
  const numbers = found.map(({ key, retries, repeated = 1 }) => [key, retries, repeated]);
  // The last one is written when the logging ends.
  assertEquals(numbers, [["default/a", 0, 1], ["default/a", 30, 30], ["default/b", 0, 1], ["default/a", 39, 9]]);
  assertEquals(linesAt("info", "text")[1]?.endsWith(" retries=30 error=409 repeated=30"), true);
  assertEquals(linesAt("debug", "text").length, 41);
});

test("repeated records below the level warn are all written", () => {
  const text = written({}, (log) => {
    for (let n = 0; n < 5; n++) log.info("reconciled");
  });
  assertEquals(text.split("\n").length - 1, 5);
});

test("only levels are colored, and only with color: true", () => {
  const log = (log: Logger) => log.warn("Slow", { ms: 3 });
  assert(!written({}, log).includes("\u001b"));
  assertStringIncludes(written({ color: true }, log), "\u001b[33mWARN \u001b[0m reflector");
});

test("[94] fields and keys with names of members of Object are shown like any other", () => {
  const labels = JSON.parse('{"__proto__":"p","constructor":"c"}');
  const text = written({ format: "json" }, (log) => log.info("x", { constructor: "c", toString: "t", labels }));
  assertStringIncludes(text, '"constructor":"c","toString":"t","labels":{"__proto__":"p","constructor":"c"}}');
});

test("a category may have the name of a member of Object", () => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  const text = written({ format: "json" }, () => names.forEach((name) => logger("controller", name).info("starting")));
  const loggers = text.trimEnd().split("\n").map((line) => JSON.parse(line).logger);
  assertEquals(loggers, names.map((name) => `controller.${name}_`));
});

test("muteLogging() drops the records of all loggers until logging is configured again", () => {
  const lines: string[] = [];
  const write = (text: string) => void lines.push(text);
  using _replaced = configureLogging({ level: "error", write });
  using _muted = muteLogging();
  logger("worker").error("reconcile failed", { error: new Error("no") });
  assertEquals(lines, []);
  using _again = configureLogging({ level: "error", write });
  logger("worker").error("reconcile failed");
  assertEquals(lines.length, 1);
});
