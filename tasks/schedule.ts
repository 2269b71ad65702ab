/**
 * The order in which jobs run at the same time: a job starts when the jobs that it names in `after` have ended, and when
 * its load fits beside the jobs that run, none of which uses what it uses.
 *
 * Guarantees: jobs that could start do so in the order of the list. A job that does not fit yet is overtaken only by jobs
 * beside which it fits as soon as the heaviest of the running jobs has ended, so light jobs do not delay a heavy one for
 * ever. A job whose load exceeds the capacity runs alone.
 */

/** One job. */
export interface Job {
  readonly name: string;
  /** Jobs that must have ended before. @default none */
  readonly after?: readonly string[];
  /** @default 1 */
  readonly load?: number;
  /** Of the jobs that use a thing of this name, one runs at a time. @default none */
  readonly uses?: string;
}

/**
 * Runs all jobs.
 *
 * @throws TypeError when two jobs have one name, or when a job waits for one that does not exist or for itself; whatever
 * `perform` rejects with, once no job runs any more.
 */
export async function runInOrder<T extends Job>(
  jobs: readonly T[],
  capacity: number,
  perform: (job: T) => Promise<void>,
): Promise<void> {
  assertRunnable(jobs);
  const waiting = [...jobs];
  const running = new Map<string, { readonly job: T; readonly ended: Promise<void> }>();
  const ended = new Set<string>();
  const errors: unknown[] = [];
  while (waiting.length > 0 || running.size > 0) {
    for (let job = next(); job !== undefined; job = next()) {
      const { name } = job;
      waiting.splice(waiting.indexOf(job), 1);
      const end = perform(job).catch((error: unknown) => void errors.push(error)).then(() => {
        running.delete(name);
        ended.add(name);
      });
      running.set(name, { job, ended: end });
    }
    await Promise.race([...running.values()].map(({ ended }) => ended));
  }
  if (errors.length > 0) throw errors[0];

  /** The job to start now. */
  function next(): T | undefined {
    const inUse = new Set([...running.values()].map(({ job }) => job.uses));
    const [first, ...others] = waiting.filter(({ after = [], uses }) =>
      after.every((name) => ended.has(name)) && (uses === undefined || !inUse.has(uses))
    );
    if (first === undefined || running.size === 0) return first;
    const loads = [...running.values()].map(({ job }) => loadOf(job));
    const used = loads.reduce((total, load) => total + load, 0);
    if (used + loadOf(first) <= capacity) return first;
    const usedSoon = used - Math.max(...loads) + loadOf(first);
    return others.find((job) => loadOf(job) + Math.max(used, usedSoon) <= capacity);
  }
}

function loadOf({ load = 1 }: Job): number {
  return load;
}

function assertRunnable(jobs: readonly Job[]): void {
  const names = new Set(jobs.map(({ name }) => name));
  if (names.size < jobs.length) throw new TypeError("Cannot run the jobs: two have the same name");
  const reachable = new Set<string>();
  for (let before = -1; before < reachable.size;) {
    before = reachable.size;
    for (const { name, after = [] } of jobs) if (after.every((one) => reachable.has(one))) reachable.add(name);
  }
  const stuck = jobs.find(({ name }) => !reachable.has(name));
  if (stuck !== undefined) {
    throw new TypeError(`Cannot run "${stuck.name}": it waits for "${stuck.after?.join('", "')}", which never ends`);
  }
}
