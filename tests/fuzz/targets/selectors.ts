/**
 * Selectors of users: labels on the command line and in requests, fields in requests. An input has a label selector, a field
 * selector and labels as JSON.
 *
 * Promises: a selector of the command line is parsed or a SyntaxError; it is printed as it was parsed; the embedded API server
 * accepts what the command line accepts, and selects the same objects; no request is an error of the server.
 */
import fc from "fast-check";
import { formatLabelSelector, isDeepEqual, matchesLabels, parseLabelSelector } from "../../../src/api/mod.ts";
import {
  parseLabelSelector as parseServerSelector,
  SelectorError,
} from "../../../src/apiserver/registry/label_selector.ts";
import { parseFieldSelector } from "../../../src/apiserver/registry/selection.ts";
import { type FuzzTarget, joinParts, orRefused, partsOf, promise } from "../target.ts";

const key = fc.constantFrom("a", "b", "a.b/c", "", "__proto__", "-a", "x".repeat(64), "in", "notin");
const value = fc.constantFrom("x", "y", "", "a b", "x,y", "(", "é");
const requirement = fc.oneof(
  fc.tuple(key, fc.constantFrom("=", "==", "!=", " = ", ">", "<"), value).map((parts) => parts.join("")),
  fc.tuple(key, fc.constantFrom(" in ", " notin ", "in"), fc.array(value)).map(([key, word, values]) =>
    `${key}${word}(${values.join(",")})`
  ),
  key.map((key) => `!${key}`),
  key,
);
const labels = fc.dictionary(fc.constantFrom("a", "b", "a.b/c"), fc.constantFrom("x", "y", ""));

function labelsIn(text: string): Record<string, string> {
  const value: unknown = orRefused(() => JSON.parse(text), SyntaxError);
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, one]) => typeof one === "string"));
}

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    joinParts(
      "app=web,tier in (front, back),!canary",
      "metadata.name=a,spec.nodeName!=b\\,c",
      '{"app":"web","tier":"back"}',
    ),
    joinParts("a notin (x,),b==", "=,a==b", '{"a":""}'),
  ],
  arbitrary: fc.tuple(fc.array(requirement), fc.array(requirement), labels).map(([one, other, labels]) =>
    joinParts(one.join(","), other.join(","), JSON.stringify(labels))
  ),
  words: [" in (", " notin (", ")", ",", "=", "==", "!=", "!", ">", "\\,", "\\=", "metadata.name", "spec.nodeName"],
  check(input) {
    const [text = "", fields = "", json = ""] = partsOf(input, 3);
    orRefused(() => parseFieldSelector(fields), SelectorError);
    const matches = orRefused(() => ({ match: parseServerSelector(text) }), SelectorError);
    const selector = orRefused(() => parseLabelSelector(text), SyntaxError);
    if (selector === undefined) return;
    promise(matches !== undefined, "The server refuses a selector that the command line accepts");
    const printed = parseLabelSelector(formatLabelSelector(selector));
    promise(isDeepEqual(printed, selector), "A selector is printed in another form");
    const labels = labelsIn(json);
    const isSelected = matches.match?.({ object: {}, labels }) ?? true;
    promise(isSelected === matchesLabels(selector, labels), "The server selects other objects");
  },
};
