/** A reporter for `node --test`: prints what failed, and one line that counts, as `deno test` and `bun test` do. */

/** The part of an event of the runner that this file reads. */
interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly file?: string;
    readonly skip?: string | boolean;
    readonly details?: { readonly error?: { readonly cause?: unknown } };
  };
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for await (const { type, data } of events) {
    if (type === "test:pass") counts[data.skip === undefined ? "passed" : "skipped"]++;
    if (type !== "test:fail") continue;
    counts.failed++;
    const { error } = data.details ?? {};
    const { cause = error } = error ?? {};
    yield `FAILED ${data.file}: ${data.name}\n${cause instanceof Error ? cause.stack : String(cause)}\n\n`;
  }
  const { passed, failed, skipped } = counts;
  yield `${passed} passed | ${failed} failed | ${skipped} ignored\n`;
}
