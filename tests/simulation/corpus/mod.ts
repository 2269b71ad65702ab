/** The corpus: 64 small operators, 42 with one realistic bug each, 22 correct ones that look suspicious. */
import type { CorpusCase } from "./_case.ts";
import { correctCluster } from "./correct_cluster.ts";
import { correctNames } from "./correct_names.ts";
import { correctStatuses } from "./correct_statuses.ts";
import { correctTime } from "./correct_time.ts";
import { errors } from "./errors.ts";
import { correctExternal, external } from "./external.ts";
import { finalizers } from "./finalizers.ts";
import { interruptedWrites } from "./interrupted_writes.ts";
import { memory } from "./memory.ts";
import { misoperations } from "./misoperations.ts";
import { ownership } from "./ownership.ts";
import { staleViews } from "./stale_views.ts";
import { statuses } from "./statuses.ts";
import { together } from "./together.ts";
import { unobserved } from "./unobserved.ts";
import { correctWorkers, workers } from "./workers.ts";

export type { CorpusCase } from "./_case.ts";

/** All operators, those with a bug first. */
export const corpus: readonly CorpusCase[] = [
  ...interruptedWrites,
  ...staleViews,
  ...unobserved,
  ...finalizers,
  ...errors,
  ...ownership,
  ...statuses,
  ...misoperations,
  ...together,
  ...memory,
  ...external,
  ...workers,
  ...correctNames,
  ...correctTime,
  ...correctCluster,
  ...correctStatuses,
  ...correctExternal,
  ...correctWorkers,
];
