/** withSortedCauses(): the Status of an object that is wrong in several fields, comparable whatever order they were found in. */
import type { ApiStatus } from "../../src/api/mod.ts";

/** Sorts the causes, and the list of them in the message. Whatever is no such Status stays as it is. */
export function withSortedCauses(answer: unknown): unknown {
  if (!isStatus(answer) || answer.details?.causes === undefined) return answer;
  const { message = "", details } = answer;
  const { causes = [] } = details;
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const list = `[${texts.join(", ")}]`;
  const sorted = causes.toSorted((left, right) => JSON.stringify(left) < JSON.stringify(right) ? -1 : 1);
  return {
    ...answer,
    message: message.replace(list, () => `[${texts.toSorted().join(", ")}]`),
    details: { ...details, causes: sorted },
  };
}

function isStatus(answer: unknown): answer is ApiStatus {
  return typeof answer === "object" && answer !== null && "kind" in answer && answer.kind === "Status";
}
