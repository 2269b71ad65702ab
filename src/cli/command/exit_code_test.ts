import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { ApiError, KubeconfigError, UnreachableError } from "../../client/mod.ts";
import { CommandError, exitCode, exitCodeList, failureOf } from "./exit_code.ts";
import { UsageError } from "../flags/commander_options.ts";

const action = 'list Foo (samplecontroller.k8s.io/v1alpha1) in namespace "a"';

test("[84] each kind of error has its exit code", () => {
  const cases: readonly (readonly [unknown, number])[] = [
    [new UsageError("Cannot parse --workers"), 2],
    [new KubeconfigError('Cannot use context "x" (--context): it does not exist; there is "y"'), 3],
    [new ApiError({ code: 401 }, { action }), 4],
    [new ApiError({ code: 403 }, { action }), 4],
    [new UnreachableError({ action, reason: { kind: "unreachable", detail: "refused" } }), 5],
    [new UnreachableError({ action, reason: { kind: "tls", detail: "unknownAuthority" } }), 5],
    [new CommandError("Cannot run", { code: exitCode.crdMissing }), 6],
    [Object.assign(new Error("listen"), { code: "EADDRINUSE" }), 8],
    [new ApiError({ code: 422, reason: "Invalid" }, { action }), 1],
    [new TypeError("undefined is not a function"), 70],
    ["a string", 70],
    [undefined, 70],
  ];
  for (const [error, code] of cases) assertEquals(failureOf(error).code, code, String(error));
});

test("[84] a failure keeps its message when its code is replaced", () => {
  const failure = failureOf(new CommandError("Cannot read a", { code: exitCode.usage, advice: "Name b" }));
  assertEquals({ ...failure, code: 1 }, { code: 1, message: "Cannot read a", advice: "Name b" });
});

test("[84] an error is classified by its causes, however many layers are in between", () => {
  const forbidden = new ApiError({ code: 403, message: "no" }, { action });
  const wrapped = new Error('Cannot run controller "foo"', { cause: new Error("Cannot start", { cause: forbidden }) });
  assertEquals(failureOf(wrapped).code, exitCode.permission);
  assertEquals(failureOf(new AggregateError([wrapped, new Error("other")], "Cannot run controllers")).code, 4);
});

test("an error of the file system is not a defect", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  const error = new Error("Cannot write known Pods: ENOSPC: no space left on device", { cause: full });
  assertEquals(failureOf(error), { code: exitCode.failed, message: error.message, advice: undefined });
  assertEquals(failureOf(new Error("x", { cause: Object.assign(new Error(), { code: "EBUG" }) })).code, 70);
});

test("failureOf() ends when causes form a cycle", () => {
  const cycle = new Error("Cannot turn: round");
  cycle.cause = cycle;
  assertEquals(failureOf(cycle), {
    code: exitCode.internal,
    message: "Cannot turn: round",
    advice: "This is a defect of the program: -v shows the stack trace",
  });
});

test("[84] the message of an unknown error follows the grammar, too", () => {
  assertEquals(failureOf(new Error("boom")).message, "Cannot continue: boom");
  assertEquals(failureOf(new Error("")).message, "Cannot continue: an error without a message");
});

test("every exit code is explained, once, in order", () => {
  const codes = exitCodeList.map(({ code }) => code);
  assertEquals(codes, [...new Set(Object.values(exitCode))]); // `plan` has another meaning of 2
  assert(exitCodeList.every(({ meaning }) => meaning.length > 0));
});
