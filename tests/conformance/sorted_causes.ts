/** withSortedCauses(): makes the Status of an object with several wrong fields comparable in any order of the causes. */
import type { ApiStatus } from "../../src/api/mod.ts";

/** Sorts the causes, and their list in the message. Any other value stays unchanged. */
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
