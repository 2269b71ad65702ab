/** The types of events/v1. Written by tasks/types.ts from the schemas that kube-apiserver 1.36 publishes. Do not edit. */
// deno-fmt-ignore-file
import type { MicroTime, Time } from "../builtin_resource.ts";
import type { ObjectMeta } from "../object.ts";
import type { EventSource, ObjectReference } from "./core_v1.ts";

export interface Event {
  readonly kind: "Event";
  readonly apiVersion: string;
  readonly metadata: ObjectMeta;
  readonly eventTime: MicroTime;
  readonly series?: EventSeries;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly regarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly note?: string;
  readonly type?: string;
  readonly deprecatedSource?: EventSource;
  readonly deprecatedFirstTimestamp?: Time;
  readonly deprecatedLastTimestamp?: Time;
  readonly deprecatedCount?: number;
}
export interface EventSeries {
  readonly count: number;
  readonly lastObservedTime: MicroTime;
}
