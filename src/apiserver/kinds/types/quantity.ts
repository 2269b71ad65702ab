/**
 * Quantities: `100m`, `1.5Gi`, `2e3`. They are stored in their canonical form and compared by value. They are exact: a value
 * is a bigint of billionths. The rules are those of apimachinery `api/resource` of Kubernetes 1.36.
 */

/** A parsed quantity. */
interface Quantity {
  /** In billionths. */
  readonly nano: bigint;
  readonly format: "binary" | "decimal" | "exponent";
}

/** An invalid quantity. The message is that of the real server. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

const badFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const badNumber = "unable to parse numeric part of quantity";
const badSuffix = "unable to parse quantity's suffix";
const unit = 1_000_000_000n;
const binaryUnits = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Powers of 1000, from the smallest. */
const decimalUnits = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const decimalOne = 3;

/** No quantity is larger than 2^63-1. */
const maxNano = (2n ** 63n - 1n) * unit;
const maxCached = 2_000;
const canonical = new Map<string, string>();

/** Returns the canonical form of a quantity, which is stored. @throws QuantityError */
export function canonicalQuantity(text: string): string {
  const known = canonical.get(text);
  if (known !== undefined) return known;
  const made = formatQuantity(parseQuantity(text));
  if (canonical.size >= maxCached) canonical.clear();
  canonical.set(text, made);
  return made;
}

/** Parses a quantity. @throws QuantityError */
export function parseQuantity(text: string): Quantity {
  if (text === "") throw new QuantityError(badFormat);
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(.*)$/s.exec(text);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? [];
  if (whole === "" && fraction === "") throw new QuantityError(/^[+-]?\.?$/.test(text) ? badNumber : badFormat);
  if (!/^[eEinumkKMGTP]*[-+]?\d*$/.test(suffix)) throw new QuantityError(badFormat);
  const { multiplier, divisor, format } = suffixOf(suffix);
  const scaled = BigInt(`${whole}${fraction}`) * unit * multiplier;
  const denominator = divisor * 10n ** BigInt(fraction.length);
  const magnitude = smaller(ceilingOf(scaled, denominator), maxNano);
  return { nano: sign === "-" ? -magnitude : magnitude, format };
}

function suffixOf(suffix: string): { multiplier: bigint; divisor: bigint; format: Quantity["format"] } {
  const binary = binaryUnits.indexOf(suffix);
  if (suffix !== "" && binary >= 0) return { multiplier: 1024n ** BigInt(binary), divisor: 1n, format: "binary" };
  const decimal = decimalUnits.indexOf(suffix);
  if (decimal >= decimalOne) {
    return { multiplier: 1000n ** BigInt(decimal - decimalOne), divisor: 1n, format: "decimal" };
  }
  if (decimal >= 0) return { multiplier: 1n, divisor: 1000n ** BigInt(decimalOne - decimal), format: "decimal" };
  const exponent = /^[eE]([-+]?\d+)$/.exec(suffix)?.[1];
  if (exponent === undefined) throw new QuantityError(badSuffix);
  const power = BigInt(Math.max(-60, Math.min(60, Number(exponent))));
  return power >= 0n
    ? { multiplier: 10n ** power, divisor: 1n, format: "exponent" }
    : { multiplier: 1n, divisor: 10n ** -power, format: "exponent" };
}

/** Formats a quantity in its canonical form: no fraction, and the largest exact unit. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const isSmall = nano > -1024n * unit && nano < 1024n * unit;
  if (format === "binary" && !isSmall && nano % unit === 0n) return binaryText(nano / unit);
  let [mantissa, power] = [nano, 0];
  while (mantissa % 1000n === 0n && power < decimalUnits.length - 1) [mantissa, power] = [mantissa / 1000n, power + 1];
  const suffix = decimalUnits[power] ?? "";
  if (format !== "exponent" || power === decimalOne) return `${mantissa}${suffix}`;
  return `${mantissa}e${(power - decimalOne) * 3}`;
}

function binaryText(value: bigint): string {
  let [mantissa, power] = [value, 0];
  while (mantissa % 1024n === 0n && power < binaryUnits.length - 1) [mantissa, power] = [mantissa / 1024n, power + 1];
  return `${mantissa}${binaryUnits[power] ?? ""}`;
}

/** Rounds up to thousandths, the precision of resources. @throws QuantityError */
export function roundedToMilli(text: string): string {
  const quantity = parseQuantity(text);
  const step = unit / 1000n;
  const rest = quantity.nano % step;
  if (rest === 0n) return canonicalQuantity(text);
  const nano = quantity.nano - rest + (quantity.nano > 0n ? step : -step);
  return formatQuantity({ nano, format: quantity.format });
}

/** Compares two valid quantities: less than 0 when the left one is smaller. */
export function compareQuantities(left: string, right: string): number {
  const difference = parseQuantity(left).nano - parseQuantity(right).nano;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Adds quantities, in the format of the first. */
export function sumOfQuantities(texts: readonly string[]): string {
  const quantities = texts.map(parseQuantity);
  const nano = quantities.reduce((sum, quantity) => sum + quantity.nano, 0n);
  return formatQuantity({ nano, format: quantities[0]?.format ?? "decimal" });
}

function ceilingOf(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
