/** Tests of how a pool distributes test files over control planes; pool.ts as a program is a step of the gate. */
import { join } from "node:path";
import { drain } from "../../src/async/mod.ts";
import { assertEquals, assertThrows, test } from "../testing.ts";
import { parsePoolOptions, runPool, type Worker } from "./pool.ts";

/** Workers whose files end when the test says so. */
class TestWorkers {
  readonly running = new Map<string, (code: number) => void>();
  readonly events: string[] = [];
  #started = 0;

  readonly start = async (): Promise<Worker> => {
    const number = ++this.#started;
    await Promise.resolve();
    return {
      run: (file) => {
        this.events.push(`${number} ${file}`);
        return new Promise((resolve) => this.running.set(file, resolve));
      },
      [Symbol.asyncDispose]: async () => {
        this.events.push(`${number} ends`);
        await Promise.resolve();
      },
    };
  };

  async end(file: string, code = 0): Promise<void> {
    this.running.get(file)?.(code);
    this.running.delete(file);
    await drain();
  }
}

test("each worker runs one file at a time and takes the next one, until none is left", async () => {
  const workers = new TestWorkers();
  const done = runPool(["a", "b", "c", "d"], 2, workers.start);
  await drain();
  for (const [file, code] of [["b", 0], ["c", 3], ["d", 0], ["a", 0]] as const) await workers.end(file, code);
  assertEquals(await done, { failed: ["c"], errors: [] });
  assertEquals(workers.events, ["1 a", "2 b", "2 c", "2 d", "2 ends", "1 ends"]);
});

test("files that no worker could run have failed", async () => {
  const error = new Error("no control plane");
  const { failed, errors } = await runPool(["a", "b"], 2, () => Promise.reject(error));
  assertEquals([failed, errors], [["a", "b"], [error, error]]);
});

test("when a worker breaks, its file has failed and the other worker runs the rest", async () => {
  const workers = new TestWorkers();
  let count = 0;
  const done = runPool(["a", "b", "c"], 2, async () => {
    const worker = await workers.start();
    return ++count === 1 ? { ...worker, run: () => Promise.reject(new Error("broken")) } : worker;
  });
  await drain();
  for (const file of ["a", "b", "c"]) await workers.end(file);
  const { failed, errors } = await done;
  assertEquals([failed, errors.map(String)], [["a"], ["Error: broken"]]);
});

test("the command line names each file once, in its order, without the excluded ones", () => {
  const here = "tests/controlplane";
  const { files, workers, manifests } = parsePoolOptions([
    ...["--workers", "3", "--apply", "crds", "--without", `${here}/with_test.ts`],
    ...[`${here}/pool_test.ts`, here],
  ]);
  assertEquals([workers, manifests], [3, ["crds"]]);
  const names = ["pool_test.ts", "admission_policies_test.ts", "control_plane_test.ts", "start_cluster_test.ts"];
  assertEquals(files, names.map((name) => join(here, name)));
  assertThrows(() => parsePoolOptions(["--unknown", here]), /"--unknown" is no option/);
  assertThrows(() => parsePoolOptions(["--without", here, here]), /it names no test file/);
  assertThrows(() => parsePoolOptions(["--workers", "x", here]), /--workers is no number/);
});
