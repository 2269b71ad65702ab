/** Tests which lines of a program are errors, and which of them are new. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { errorLines, errorPattern, newErrors } from "./error_logs.ts";

const zap =
  '{"level":"error","ts":"2026-11-24T13:00:01Z","msg":"Reconciler error","reconcileID":"1b4e28ba-2fa1-11d2-883f-0016d3cca427"}';
const zapAgain = zap.replace("13:00:01", "13:00:02").replace("1b4e28ba", "9f4e28bb");

test("errors are recognized in the formats of loggers of Go, Java and Python", () => {
  const errors = [
    zap,
    'time="2026-11-24" level=error msg="no"',
    "E1124 13:00:00.1 1 reflector.go:147] failed to list",
    "panic: runtime error: invalid memory address",
    "2026-11-24 13:00:00,1 ERROR [io.javaoperatorsdk] Error during event processing",
    "java.lang.IllegalStateException: no Secret",
    "kopf._cogs.errors.PermanentError: no",
    "KeyError: 'spec'",
  ];
  const others = [
    '{"level":"info","msg":"no error"}',
    "I1124 13:00:00.1 1 leaderelection.go:250] successfully acquired lease",
    "goroutine 1 [running]:",
    "Errors: 0",
  ];
  assertEquals(errorLines([...errors, ...others].join("\n")), errors);
});

test("errors with other times and ids have the same pattern, and are shown once with their number", () => {
  assertEquals(errorPattern(zap), errorPattern(zapAgain));
  assertEquals(newErrors([zap, zapAgain, "panic: no"], new Set()), [`${zap} (2 times)`, "panic: no"]);
});

test("errors that runs without faults have, too, are not shown", () => {
  assertEquals(newErrors([zapAgain, "panic: no"], new Set([errorPattern(zap)])), ["panic: no"]);
});
