/** Authentication and authorization: who is the user of a request, and what may the user do? */
import type { ConformanceCase } from "../conformance_case.ts";
import { credentialCases } from "./_access_credentials.ts";
import { grantCases } from "./_access_grants.ts";
import { matrixCases } from "./_access_matrix.ts";
import { nodeCases } from "./_access_nodes.ts";

export const accessCases: readonly ConformanceCase[] = [
  ...matrixCases,
  ...grantCases,
  ...nodeCases,
  ...credentialCases,
];
