/**
 * The row of an Event, of core or of events.k8s.io: the same object, whose older fields have other names in the newer
 * version.
 */
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { sinceText } from "./_cells.ts";
import { findObject, nameOf, numberIn, numberOf, objectOf, textIn, textOf } from "./_values.ts";

/** The cells of an Event. */
export function eventRow(event: JsonObject, now: number): readonly Json[] {
  const subject = findObject(event, "regarding") ?? objectOf(event, "involvedObject");
  const { first, last, count } = occurrences(event, now);
  return [
    last,
    textOf(event, "type"),
    textOf(event, "reason"),
    subjectText(subject),
    textOf(subject, "fieldPath"),
    sourceText(event),
    textIn(either(event, "message", "note")).trim(),
    first,
    count,
    nameOf(event),
  ];
}

function occurrences(event: JsonObject, now: number): { first: string; last: string; count: number } {
  const firstAt = textIn(either(event, "firstTimestamp", "deprecatedFirstTimestamp"));
  const lastAt = textIn(either(event, "lastTimestamp", "deprecatedLastTimestamp"));
  const first = sinceText(firstAt === "" ? textOf(event, "eventTime") : firstAt, now);
  const series = findObject(event, "series");
  if (series !== undefined) {
    return { first, last: sinceText(textOf(series, "lastObservedTime"), now), count: numberOf(series, "count") };
  }
  const count = numberIn(either(event, "count", "deprecatedCount"));
  return { first, last: lastAt === "" ? first : sinceText(lastAt, now), count: count === 0 ? 1 : count };
}

function subjectText(subject: JsonObject): string {
  const [kind, name] = [textOf(subject, "kind").toLowerCase(), textOf(subject, "name")];
  return name === "" ? kind : `${kind}/${name}`;
}

function sourceText(event: JsonObject): string {
  const source = findObject(event, "source") ?? objectOf(event, "deprecatedSource");
  const reporter = textIn(either(event, "reportingComponent", "reportingController"));
  const component = firstText(textOf(source, "component"), reporter);
  const host = firstText(textOf(source, "host"), textOf(event, "reportingInstance"));
  return host === "" ? component : `${component}, ${host}`;
}

/** The value of a field that has two names. */
function either(event: JsonObject, core: string, newer: string): Json | undefined {
  return read(event, core) ?? read(event, newer);
}

function firstText(left: string, right: string): string {
  return left === "" ? right : left;
}
