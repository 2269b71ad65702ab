import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";
import { withCommandErrors } from "./program_errors.ts";

const session = { info: () => {} } as unknown as Session;
const ended = () => Promise.reject(new Error("Cannot send request to process: it was disposed"));

test("what workers do not answer any more after a signal is no defect", async () => {
  const error = await assertRejects(() => withCommandErrors(session, AbortSignal.abort(), ended));
  const { message, code } = error as CommandError;
  assertEquals([message, code], ["Cannot simulate: a signal ended it before its first result", exitCode.failed]);
});

test("without a signal the error of a worker stays as it is", async () => {
  const error = await assertRejects(() => withCommandErrors(session, new AbortController().signal, ended));
  assertEquals(error instanceof CommandError, false);
});
