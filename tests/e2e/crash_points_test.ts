/**
 * A sample of the simulation's crash points on a real control plane: the compiled binary is killed (SIGKILL) around one of
 * its writes and started again, and the result is compared with a run without a crash. The simulation runs the
 * same points, and both must agree: fault class F2, invariants I1 and I2. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/crash_points_test.ts
 */
import { join } from "node:path";
import { seededRandom } from "../../src/async/mod.ts";
import type { Workload } from "../../src/manager/mod.ts";
import { type CrashMoment, replay, runSchedule } from "../../src/simulation/mod.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals } from "../testing.ts";
import type { CrashPoint } from "./_crash_process.ts";
import { crash, type CrashRecord, learn } from "./_crash_run.ts";
import { crashSubjects, type SimulatedSubject } from "./_crash_subjects.ts";

const moments: readonly CrashMoment[] = ["before", "committed", "answered"];
/** Another seed gives another sample. */
const seed = 1;
/** The smallest part of all crash points. */
const share = 0.1;
/** Runs without a crash; what differs among them is masked. */
const lessons = 2;
/** Runs in which the write of a crash point may be missing before that is a failure. */
const maxRuns = 3;
/** Runs at the same time: one uses cluster-scoped kinds, the others have separate namespaces. */
const lanes = 5;
const crds = join(import.meta.dirname ?? ".", "..", "..", "crds");

interface Verdict {
  readonly where: string;
  readonly real: readonly string[];
  readonly simulated: readonly string[];
}

/** A workload, its expected result, and its crash points. */
interface Play {
  readonly subject: SimulatedSubject;
  readonly workload: Workload;
  readonly expected: readonly [CrashRecord, ...CrashRecord[]];
}

controlPlaneTest(
  "SIGKILL at a tenth of all crash points leads to the state that the simulation predicts",
  async (controlPlane) => {
    const startedAt = performance.now();
    const tasks = crashSubjects.flatMap((subject) => subject.workloads.map((workload) => ({ subject, workload })));
    const verdicts = (await inLanes(tasks, async (task) => {
      const play = await learned(controlPlane, task);
      const found: Verdict[] = [];
      for (const point of pointsOf(play)) found.push(await judged(controlPlane, play, point));
      return found;
    })).flat();
    const all = await simulatedPoints();
    console.log(`${verdicts.length} of ${all} crash points: ${Math.round(performance.now() - startedAt)} ms`);
    assert(verdicts.length >= share * all, `${verdicts.length} of ${all} crash points were played`);
    assertEquals(verdicts.filter(({ real, simulated }) => real.length > 0 || simulated.length > 0), []);
  },
  // Runs of cluster-scoped kinds use the cluster one after the other.
  { own: { manifests: [crds] } },
);

async function learned(controlPlane: ControlPlane, task: Pick<Play, "subject" | "workload">): Promise<Play> {
  const first = await learn({ controlPlane, ...task });
  const others: CrashRecord[] = [];
  while (others.length < lessons - 1) others.push(await learn({ controlPlane, ...task }));
  for (const { violations, lives } of [first, ...others]) {
    assertEquals(violations, [], `${task.subject.name}, ${task.workload.name}`);
    assert(lives.size > 0, "no run saw an object being created");
  }
  return { ...task, expected: [first, ...others] };
}

/** Two crash points of each workload, of the three moments in turn; writes that not every run made are excluded. */
function pointsOf({ expected, subject, workload }: Play): readonly CrashPoint[] {
  const random = seededRandom(
    seed * 1_000 + crashSubjects.indexOf(subject) * 100 + subject.workloads.indexOf(workload),
  );
  const writes = Math.min(...expected.map((record) => record.writes));
  assert(writes > 0, `nothing was written in "${workload.name}"`);
  const first = Math.floor(random.next() * moments.length);
  return [0, 1].flatMap((half) => {
    const [from, to] = [Math.floor(half * writes / 2), Math.ceil((half + 1) * writes / 2)];
    const write = 1 + from + Math.floor(random.next() * (to - from));
    return moments.filter((_, index) => index === (first + half) % moments.length).map((moment) => ({ write, moment }));
  });
}

async function judged(controlPlane: ControlPlane, play: Play, point: CrashPoint): Promise<Verdict> {
  const { subject, workload, expected } = play;
  const where = `${subject.name}, ${workload.name}: ${point.moment} write ${point.write}`;
  const startedAt = performance.now();
  let real: readonly string[] | undefined;
  for (let run = 0; run < maxRuns && real === undefined; run++) {
    real = await crash({ controlPlane, subject, workload }, point, expected);
  }
  real ??= [`write ${point.write} did not come in ${maxRuns} runs, although each run without a crash has it`];
  const plan = { faults: [{ kind: "crash", ...point, downMs: 1_000 } as const] };
  const finding = await replay(subject.controller, workload, { plan, seed: 1, replicas: 1 });
  const simulated = finding?.violations.map(({ invariant, message }) => `${invariant}: ${message}`) ?? [];
  console.log(`${where}: ${Math.round(performance.now() - startedAt)} ms${real.length > 0 ? ` ${real}` : ""}`);
  return { where, real, simulated };
}

/** All crash points of the simulation for these workloads. */
async function simulatedPoints(): Promise<number> {
  let count = 0;
  for (const { controller, workloads } of crashSubjects) {
    for (const workload of workloads) {
      count += (await runSchedule({ controllers: [controller], workload })).points.writes * moments.length;
    }
  }
  return count;
}

/** Runs all: several at a time if they have separate namespaces, one by one if they use the whole cluster. */
async function inLanes<Task extends { readonly subject: SimulatedSubject }, Done>(
  tasks: readonly Task[],
  perform: (task: Task) => Promise<Done>,
): Promise<readonly Done[]> {
  const done: Done[] = [];
  const lane = async (queue: Task[]) => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) done.push(await perform(task));
  };
  const apart = tasks.filter(({ subject }) => subject.isNamespaced);
  const alone = tasks.filter(({ subject }) => !subject.isNamespaced);
  await Promise.all([lane(alone), ...Array.from({ length: lanes - 1 }, () => lane(apart))]);
  return done;
}
