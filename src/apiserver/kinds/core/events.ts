/**
 * Events of both groups, core and events.k8s.io: rules, conversion and table row. The same objects are stored for both; some
 * fields have other names in the newer version.
 */
import {
  type Draft,
  draftOf,
  isSameJson,
  type Json,
  type JsonObject,
  labelKeyErrors,
  put,
  read,
} from "../../model/mod.ts";
import {
  asNumber,
  asText,
  fieldIsImmutable,
  FieldPath,
  type KindRules,
  type Problems,
  sinceText,
  subdomainErrors,
} from "../rules/mod.ts";
import { findNumber, findObject, has, metadataOf, nameOf, numberAt, objectAt, textAt } from "../types/mod.ts";

const maxNameLength = 128;
const maxNoteLength = 1024;

/** The core names of the fields of events.k8s.io. */
const coreNames: ReadonlyMap<string, string> = new Map([
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
]);

const newNames: ReadonlyMap<string, string> = new Map([...coreNames].map(([name, core]) => [core, name]));
const objectFields = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"];

/**
 * Fields for selectors.
 *
 * @param involved the name of the object field
 * @param controller the name of the controller field
 */
function selectorsOf(involved: string, controller: string): ReadonlyMap<string, (object: JsonObject) => string> {
  const fields = new Map<string, (object: JsonObject) => string>([
    ["reason", (event) => textAt(event, "reason")],
    ["type", (event) => textAt(event, "type")],
    [controller, (event) => textAt(event, controller)],
  ]);
  for (const name of objectFields) {
    fields.set(`${involved}.${name}`, (event) => textAt(objectAt(event, involved), name));
  }
  return fields;
}

const common = {
  depth: "full",
  errorGroup: "",
  allowsCreateOnUpdate: true,
  deletion: { propagation: "Unsupported" },
} as const satisfies KindRules;

/** core/v1 Event. */
export const coreEventRules: KindRules = {
  ...common,
  allowsPlainFinalizers: true,
  fieldSelectors: new Map([
    ...selectorsOf("involvedObject", "reportingComponent"),
    [
      "source",
      (event: JsonObject) => textAt(objectAt(event, "source"), "component") || textAt(event, "reportingComponent"),
    ],
  ]),
  validate: (event, problems) => checkLegacy(event, problems, "reportingComponent"),
  validateUpdate: (event, _old, problems) => checkLegacy(event, problems, "reportingComponent"),
  convert: (event, to) => withNamesOf(event, coreNames, to),
};

/** events.k8s.io/v1 Event. */
export const newEventRules: KindRules = {
  ...common,
  fieldSelectors: selectorsOf("regarding", "reportingController"),
  validate(event, problems) {
    const core = withNamesOf(event, coreNames, { group: "", version: "v1", kind: "Event" });
    checkLegacy(core, problems, "reportingController");
    checkSeries(core, problems);
    checkNew(core, problems);
  },
  validateUpdate(event, old, problems) {
    const to = { group: "", version: "v1", kind: "Event" };
    const [core, before] = [withNamesOf(event, coreNames, to), withNamesOf(old, coreNames, to)];
    checkLegacy(core, problems, "reportingController");
    if (!isSameJson(read(core, "series") ?? null, read(before, "series") ?? null)) checkSeries(core, problems);
    for (const [field, shown] of immutableFields) {
      const value = read(core, field) ?? null;
      if (!isSameJson(value, read(before, field) ?? null)) {
        problems.invalid(
          FieldPath.of(shown),
          value ?? (typeof read(before, field) === "string" ? "" : null),
          fieldIsImmutable,
        );
      }
    }
  },
  convert: (event, to) => withNamesOf(event, newNames, to),
};

/** The fields of an events.k8s.io Event that must not change, and their names in messages. */
const immutableFields: readonly (readonly [string, string])[] = [
  ["involvedObject", "involvedObject"],
  ["reason", "reason"],
  ["message", "message"],
  ["source", "source"],
  ["firstTimestamp", "firstTimestamp"],
  ["lastTimestamp", "lastTimestamp"],
  ["count", "count"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["action", "action"],
  ["related", "related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance", "reportingInstance"],
];

/** Renames the fields that have other names in the other group. */
function withNamesOf(
  event: JsonObject,
  names: ReadonlyMap<string, string>,
  to: { readonly group: string; readonly version: string; readonly kind: string },
): JsonObject {
  const result: Draft = {};
  for (const [key, value] of Object.entries(event)) put(result, names.get(key) ?? key, draftOf(value));
  result["apiVersion"] = to.group === "" ? to.version : `${to.group}/${to.version}`;
  return result;
}

function checkLegacy(event: JsonObject, problems: Problems, controllerField: string): void {
  const namespace = textAt(metadataOf(event), "namespace");
  const involved = textAt(objectAt(event, "involvedObject"), "namespace");
  const isSimple = !has(event, "eventTime");
  const free = isSimple ? ["", "default"] : ["default", "kube-system"];
  const isRight = involved === "" ? free.includes(namespace) : !isSimple || involved === namespace;
  if (!isRight) {
    problems.invalid(FieldPath.of("involvedObject", "namespace"), involved, "does not match event.namespace");
  }
  if (!isSimple) checkReport(event, problems, controllerField);
  problems.invalidAll(FieldPath.of("namespace"), namespace, subdomainErrors(namespace));
}

function checkReport(event: JsonObject, problems: Problems, controllerField: string): void {
  const controller = textAt(event, "reportingComponent");
  if (controller === "") problems.required(FieldPath.of(controllerField));
  problems.invalidAll(FieldPath.of(controllerField), controller, labelKeyErrors(controller));
  for (const field of ["reportingInstance", "action", "reason"]) {
    if (textAt(event, field) === "") problems.required(FieldPath.of(field));
    checkLength(event, field, maxNameLength, problems);
  }
  checkLength(event, "message", maxNoteLength, problems);
}

function checkLength(event: JsonObject, field: string, maxLength: number, problems: Problems): void {
  if (textAt(event, field).length <= maxLength) return;
  problems.invalid(FieldPath.of(field), "", `can have at most ${maxLength} characters`);
}

function checkNew(event: JsonObject, problems: Problems): void {
  if (!has(event, "eventTime")) problems.required(FieldPath.of("eventTime"));
  const type = textAt(event, "type");
  if (type !== "Normal" && type !== "Warning") problems.invalid(FieldPath.of("type"), "", `has invalid value: ${type}`);
  const source = objectAt(event, "source");
  const isSet = {
    firstTimestamp: has(event, "firstTimestamp"),
    lastTimestamp: has(event, "lastTimestamp"),
    count: numberAt(event, "count") !== 0,
    source: textAt(source, "component") !== "" || textAt(source, "host") !== "",
  };
  for (const [field, value] of Object.entries(isSet)) {
    if (value) problems.invalid(FieldPath.of(field), "", "needs to be unset");
  }
}

function checkSeries(event: JsonObject, problems: Problems): void {
  const series = findObject(event, "series");
  if (series === undefined) return;
  if ((findNumber(series, "count") ?? 0) < 2) {
    problems.invalid(FieldPath.of("series.count"), "", "should be at least 2");
  }
  if (!has(series, "lastObservedTime")) problems.required(FieldPath.of("series.lastObservedTime"));
}

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
    asText(eitherField(event, "message", "note")).trim(),
    first,
    count,
    nameOf(event),
  ];
}

function occurrences(event: JsonObject, now: number): { first: string; last: string; count: number } {
  const firstAt = asText(eitherField(event, "firstTimestamp", "deprecatedFirstTimestamp"));
  const lastAt = asText(eitherField(event, "lastTimestamp", "deprecatedLastTimestamp"));
  const first = sinceText(firstAt === "" ? textAt(event, "eventTime") : firstAt, now);
  const series = findObject(event, "series");
  if (series !== undefined) {
    return { first, last: sinceText(textAt(series, "lastObservedTime"), now), count: numberAt(series, "count") };
  }
  const count = asNumber(eitherField(event, "count", "deprecatedCount"));
  return { first, last: lastAt === "" ? first : sinceText(lastAt, now), count: count === 0 ? 1 : count };
}

function subjectText(subject: JsonObject): string {
  const [kind, name] = [textAt(subject, "kind").toLowerCase(), textAt(subject, "name")];
  return name === "" ? kind : `${kind}/${name}`;
}

function sourceText(event: JsonObject): string {
  const source = findObject(event, "source") ?? objectAt(event, "deprecatedSource");
  const reporter = asText(eitherField(event, "reportingComponent", "reportingController"));
  const component = firstText(textAt(source, "component"), reporter);
  const host = firstText(textAt(source, "host"), textAt(event, "reportingInstance"));
  return host === "" ? component : `${component}, ${host}`;
}

/** The value of a field that has two names. */
function eitherField(event: JsonObject, core: string, newer: string): Json | undefined {
  return read(event, core) ?? read(event, newer);
}

function firstText(left: string, right: string): string {
  return left === "" ? right : left;
}
