/**
 * The row of an Event, of core or of events.k8s.io: the same object, whose older fields have other names in the newer
 * version.
 */
import { findObject, nameOf, numberAt, objectAt, textAt } from "../kinds/mod.ts";
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { sinceText } from "./_cells.ts";
import { numberIn, textIn } from "./_values.ts";

/** The cells of an Event. */
export function eventRow(event: JsonObject, now: number): readonly Json[] {
  const subject = findObject(event, "regarding") ?? objectAt(event, "involvedObject");
  const { first, last, count } = occurrences(event, now);
  return [
    last,
    textAt(event, "type"),
    textAt(event, "reason"),
    subjectText(subject),
    textAt(subject, "fieldPath"),
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
  const first = sinceText(firstAt === "" ? textAt(event, "eventTime") : firstAt, now);
  const series = findObject(event, "series");
  if (series !== undefined) {
    return { first, last: sinceText(textAt(series, "lastObservedTime"), now), count: numberAt(series, "count") };
  }
  const count = numberIn(either(event, "count", "deprecatedCount"));
  return { first, last: lastAt === "" ? first : sinceText(lastAt, now), count: count === 0 ? 1 : count };
}

function subjectText(subject: JsonObject): string {
  const [kind, name] = [textAt(subject, "kind").toLowerCase(), textAt(subject, "name")];
  return name === "" ? kind : `${kind}/${name}`;
}

function sourceText(event: JsonObject): string {
  const source = findObject(event, "source") ?? objectAt(event, "deprecatedSource");
  const reporter = textIn(either(event, "reportingComponent", "reportingController"));
  const component = firstText(textAt(source, "component"), reporter);
  const host = firstText(textAt(source, "host"), textAt(event, "reportingInstance"));
  return host === "" ? component : `${component}, ${host}`;
}

/** The value of a field that has two names. */
function either(event: JsonObject, core: string, newer: string): Json | undefined {
  return read(event, core) ?? read(event, newer);
}

function firstText(left: string, right: string): string {
  return left === "" ? right : left;
}
