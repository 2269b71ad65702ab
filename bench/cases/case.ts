/**
 * A case of the benchmark: a title, its subjects, and how one run of one subject gives numbers.
 *
 * Subjects take turns (A B C A B C …), so that a machine that becomes slower affects all of them.
 */
import { type Metric, type Sample } from "../metric.ts";
import type { ProgramName } from "../programs.ts";

/** A program that is measured in a case. */
export interface Subject {
  readonly name: string;
  readonly program: ProgramName;
  /** The subcommand and its flags. */
  readonly args: readonly string[];
  /** True for a program that cannot know when it has seen all objects: it is told their number. @default false */
  readonly needsCount?: boolean;
  /** True for a program that cannot start without a cluster, in a case that has none. @default false */
  readonly needsCluster?: boolean;
  /** The checkout whose program is measured; undefined for this one. */
  readonly checkout?: string;
}

/** The Java Operator SDK with the defaults of the JVM, in every case that it takes part in. */
export const josdk = "JOSDK";
/** The same with flags of the JVM for a small container. */
export const josdkSmall = "JOSDK (-Xmx512m -XX:+UseSerialGC)";
/** The peer in Python, in every case that it takes part in. */
export const kopf = "kopf";

/** {@link josdk} and {@link josdkSmall} with a subcommand. */
export function josdkSubjects(...args: readonly string[]): readonly Subject[] {
  return [{ name: josdk, program: "java", args }, { name: josdkSmall, program: "javaSmall", args }];
}

/** How large the cases are. */
export interface Scale {
  readonly syncObjects: number;
  readonly reconcileObjects: number;
  readonly updates: number;
  /** Foos of which a plan is made. */
  readonly plannedObjects: number;
  /** Seeds of each scenario of a simulation. */
  readonly simulatedSeeds: number;
  /** Foos of one cluster of a fleet, in each of three phases. */
  readonly fleetFoos: number;
  readonly growth: readonly number[];
  /** Foos that several replicas share. */
  readonly shardedFoos: number;
  /** Objects that the embedded API server creates. */
  readonly created: number;
  readonly stored: readonly number[];
  /** Objects in the file that kubectl applies. */
  readonly applied: number;
  /** Objects between the two readings of the memory per object, and before the first. */
  readonly slopeObjects: number;
  /** Foos in a development cluster. */
  readonly devObjects: number;
  /** Milliseconds between the first sync and the reading of idle memory. */
  readonly idleMs: number;
  /** Milliseconds of each of the webhook's loads. */
  readonly webhookMs: number;
}

/** How a case is run. */
export interface Setting {
  readonly subjects: readonly Subject[];
  readonly runs: number;
  readonly scale: Scale;
  /** Prints progress. */
  readonly note: (text: string) => void;
}

/** Facts of a case for the head of the table, apart from the samples. */
export type Facts = Readonly<Record<string, string>>;

/** The result of a case. */
export interface Outcome {
  readonly samples: readonly Sample[];
  readonly facts: Facts;
}

/** One case. */
export interface Case {
  readonly name: string;
  readonly title: (scale: Scale) => string;
  readonly subjects: readonly Subject[];
  /** True for a case that needs no load generator, which is the Go program. @default false */
  readonly makesOwnLoad?: boolean;
  /** For a case that takes too long for more runs. @default as many as were asked for */
  readonly mostRuns?: number;
  readonly run: (setting: Setting) => Promise<Outcome>;
}

/** The name of our own side in every case. */
export const ours = "pintle";

/** The smallest program on our runtime that does the work of a case, without the library. */
export const bare = "the runtime alone";

/** Adds our own side a second time to a case, as it was built in another checkout. */
export function against(one: Case, checkout: string): Case {
  const others = one.subjects.filter(({ name }) => name === ours)
    .map((subject) => ({ ...subject, name: `${ours} of the other checkout`, checkout }));
  return { ...one, subjects: [...one.subjects, ...others] };
}

/** Measures every subject in turn, `runs` times. */
export async function interleaved(
  setting: Pick<Setting, "subjects" | "runs" | "note">,
  measure: (subject: Subject) => Promise<Sample["values"]>,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (let run = 1; run <= setting.runs; run++) {
    for (const subject of setting.subjects) {
      const values = await measure(subject);
      samples.push({ subject: subject.name, values });
      setting.note(`run ${run}, ${subject.name}: ${JSON.stringify(values)}`);
    }
  }
  return samples;
}

/** All values of a metric for a subject. */
export function valuesOf(samples: readonly Sample[], subject: string, metric: Metric): readonly number[] {
  return samples.flatMap((sample) => sample.subject === subject ? sample.values[metric] ?? [] : []);
}
