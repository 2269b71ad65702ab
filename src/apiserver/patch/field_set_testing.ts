/** Field sets for property tests: few elements of every kind, so that two of them meet. */
import fc from "fast-check";
import { type FieldSet, fieldSetOf } from "./field_set.ts";

const element = fc.constantFrom("f:a", "f:b", "f:__proto__", 'k:{"n":"x"}', 'k:{"n":"y"}', 'v:"x"', "v:1", "i:0");

/** Sets of up to eight paths, three elements deep. */
export const arbitraryFieldSet: fc.Arbitrary<FieldSet> = fc
  .array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 })
  .map((paths) => fieldSetOf(paths));
