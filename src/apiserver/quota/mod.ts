/** What objects count for in ResourceQuotas: asked by admission, and by the controller that counts what there is. */
export { addAmounts, type Amounts, amountsText, lessAmounts, onlyAmounts, withoutZeros } from "./amounts.ts";
export { meterOf, type QuotaMeter } from "./meters.ts";
export { coversScopes } from "./scopes.ts";
