/**
 * Errors of the kinds whose checks are declared in the types of Kubernetes, wholly or in part: each kind with a table of bad
 * objects, which differ from a good one in one field.
 */
import type { ConformanceCase } from "../conformance_case.ts";
import { deviceKinds } from "./_device_mutations.ts";
import { flowKinds } from "./_flow_mutations.ts";
import { mutationCases } from "./_mutations.ts";

export const declaredCases: readonly ConformanceCase[] = [...deviceKinds, ...flowKinds].flatMap(mutationCases);
