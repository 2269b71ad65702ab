/** withSortedCauses(): makes the Status of an object with several wrong fields comparable in any order of the causes. */
import type { ApiStatus } from "../../api/mod.ts";

/** Sorts the causes, and their list in the message. Any other value stays unchanged. */
export function withSortedCauses(response: unknown): unknown {
  if (!isStatus(response) || response.details?.causes === undefined) return response;
  const { message = "", details } = response;
  const { causes = [] } = details;
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const list = `[${texts.join(", ")}]`;
  const sorted = causes.toSorted((left, right) => JSON.stringify(left) < JSON.stringify(right) ? -1 : 1);
  return {
    ...response,
    message: message.replace(list, () => `[${texts.toSorted().join(", ")}]`),
    details: { ...details, causes: sorted },
  };
}

function isStatus(response: unknown): response is ApiStatus {
  return typeof response === "object" && response !== null && "kind" in response && response.kind === "Status";
}
