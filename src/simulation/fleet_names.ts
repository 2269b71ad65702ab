/** The names of the clusters in a simulated fleet. */

/** The hub. Entries of a recording and violations name it, too. */
export const hubName = "hub";

/** The members: the faults of a plan hit the first one. */
export function memberNames(members: number): readonly string[] {
  return Array.from({ length: members }, (_, index) => `member-${index + 1}`);
}
