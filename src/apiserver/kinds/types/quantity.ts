/**
 * Quantities: `100m`, `1.5Gi`, `2e3`. They are stored in their canonical form and compared by value. They are exact: a value
 * is a bigint of billionths. The rules are those of apimachinery `api/resource` of Kubernetes 1.36.
 */

/** A parsed quantity. */
interface Quantity {
  /** In billionths. */
  readonly nano: bigint;
  readonly format: "binary" | "decimal" | "exponent";
  /** The text that the real server keeps as it is, because it has the form of a canonical one: `1e3`, `01`, `+1`. */
  readonly written?: string;
  /** True for a decimal number that the real server holds in an int64. */
  readonly isShort?: boolean;
}

/** An invalid quantity. The message is that of the real server. */
export class QuantityError extends Error {
  override readonly name = "QuantityError";
}

const badFormat = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const badSuffix = "unable to parse quantity's suffix";
const unit = 1_000_000_000n;
const binaryUnits = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Powers of 1000, from the smallest. */
const decimalUnits = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const decimalOne = 3;

/** No quantity of a binary unit is larger than 2^63-1. */
const maxBinaryNano = (2n ** 63n - 1n) * unit;
const maxCached = 2_000;
const canonical = new Map<string, string>();

/** Returns the canonical form of a quantity, which is stored. @throws QuantityError */
export function canonicalQuantity(text: string): string {
  const known = canonical.get(text);
  if (known !== undefined) return known;
  const quantity = parseQuantity(text);
  const made = quantity.written ?? formatQuantity(quantity);
  if (canonical.size >= maxCached) canonical.clear();
  canonical.set(text, made);
  return made;
}

/** Parses a quantity. @throws QuantityError */
export function parseQuantity(text: string): Quantity {
  if (text === "") throw new QuantityError(badFormat);
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(.*)$/s.exec(text);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? [];
  if (!/^[eEinumkKMGTP]*[-+]?\d*$/.test(suffix)) throw new QuantityError(badFormat);
  const { power, base, format } = suffixOf(suffix);
  const digits = (whole.replace(/^0+/, "") || "0") + fraction;
  const factor = BigInt(base) ** BigInt(Math.abs(power));
  const scaled = BigInt(digits) * unit * (power >= 0 ? factor : 1n);
  const exact = ceilingOf(scaled, 10n ** BigInt(fraction.length) * (power >= 0 ? 1n : factor));
  const magnitude = format === "binary" && exact > maxBinaryNano ? maxBinaryNano : exact;
  const nano = sign === "-" ? -magnitude : magnitude;
  const isShort = base === 10 && digits.length <= 18 && power - fraction.length >= -9;
  const isKept = base === 1024
    ? isKeptBinary(digits, fraction, power)
    : isShort && isKeptDecimal(digits, power - fraction.length);
  return isKept ? { nano, format, isShort, written: text } : { nano, format, isShort };
}

/** ParseQuantity of apimachinery keeps the text of up to 18 digits, if its exponent is one of the units. */
function isKeptDecimal(digits: string, scale: number): boolean {
  return scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
}

/** ... and that of a whole number, if it cannot be a multiple of a larger unit. */
function isKeptBinary(digits: string, fraction: string, power: number): boolean {
  return fraction === "" && 14 - digits.length - 3 * power >= 0 && (BigInt(digits) & 7n) !== 0n;
}

/** The largest exponent that is computed: a larger one would need a number of a megabyte. */
const maxExponent = 5_000;

function suffixOf(suffix: string): { base: 10 | 1024; power: number; format: Quantity["format"] } {
  const decimal = decimalUnits.indexOf(suffix);
  if (decimal >= 0) return { base: 10, power: 3 * (decimal - decimalOne), format: "decimal" };
  const binary = binaryUnits.indexOf(suffix);
  if (binary >= 0) return { base: 1024, power: binary, format: "binary" };
  const exponent = /^[eE]([-+]?\d+)$/.exec(suffix)?.[1];
  if (exponent === undefined) throw new QuantityError(badSuffix);
  return { base: 10, power: Math.max(-maxExponent, Math.min(maxExponent, Number(exponent))), format: "exponent" };
}

/** Formats a quantity in its canonical form: no fraction, and the largest exact unit. */
export function formatQuantity({ nano, format }: Quantity): string {
  if (nano === 0n) return "0";
  const isSmall = nano > -1024n * unit && nano < 1024n * unit;
  if (format === "binary" && !isSmall && nano % unit === 0n) return binaryText(nano / unit);
  let [mantissa, power] = [nano, 0];
  while (mantissa % 1000n === 0n) [mantissa, power] = [mantissa / 1000n, power + 1];
  // Without a unit there is no suffix: the real server writes 1e30 in decimal units as 1.
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

/** The integer of a quantity, rounded away from zero. @throws QuantityError */
export function integerOf(text: string): number | bigint {
  const { nano } = parseQuantity(text);
  const rest = nano % unit;
  const whole = (nano - rest) / unit + (rest === 0n ? 0n : nano > 0n ? 1n : -1n);
  return whole >= Number.MIN_SAFE_INTEGER && whole <= Number.MAX_SAFE_INTEGER ? Number(whole) : whole;
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
