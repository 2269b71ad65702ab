/**
 * Sums of quantities such as `500m`, `16Gi` or `2e3`, exact to the nano-unit, in the canonical form of Kubernetes. The rules are
 * those of apimachinery's `resource.Quantity` in Kubernetes 1.36.
 *
 * Guarantees: no floating point; the sum does not depend on the order.
 */

/** The notation of an amount, which formatting preserves. */
type Notation = "decimal" | "binary" | "exponent";

/** An amount in nano-units, the smallest unit. */
export interface Amount {
  readonly nano: bigint;
  readonly notation: Notation;
}

const nanosPerUnit = 1_000_000_000n;
const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const;
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;
/** Larger amounts are reduced to this one, the largest int64, as Kubernetes does for amounts with a suffix. */
const maxNano = (2n ** 63n - 1n) * nanosPerUnit;
/** More digits are below a nano-unit or above the maximum, with any exponent. */
const maxTextLength = 64;

/**
 * Parses a quantity. An amount smaller than a nano-unit is rounded up to one, away from zero.
 *
 * @returns undefined when the text is not a quantity
 */
export function parseQuantity(text: string | number): Amount | undefined {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE]|)$/.exec(String(text));
  if (match === null || match[0].length > maxTextLength) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  if (whole === "" && fraction === "") return undefined;
  const { notation, factor, exponent } = scaleOf(suffix);
  const digits = BigInt(whole + fraction) * factor;
  const nano = capped(shifted(digits, exponent - fraction.length + 9));
  return { nano: sign === "-" ? -nano : nano, notation };
}

/** Formats an amount in its canonical form: no fraction, with the largest possible suffix. */
export function formatQuantity({ nano, notation }: Amount): string {
  if (nano === 0n) return "0";
  const isWhole = nano % nanosPerUnit === 0n;
  const units = nano / nanosPerUnit;
  // Binary suffixes exist only for whole amounts from 1Ki on.
  if (notation === "binary" && isWhole && (units >= 1024n || units <= -1024n)) return binaryText(units);
  return decimalText(nano, notation === "exponent");
}

/**
 * Returns the sum in canonical form, with binary suffixes if one of the amounts has one. An invalid quantity counts as zero.
 */
export function sumQuantities(texts: Iterable<string | number>): string {
  let nano = 0n;
  const notations = new Set<Notation>();
  for (const text of texts) {
    const amount = parseQuantity(text);
    if (amount === undefined || amount.nano === 0n) continue;
    nano += amount.nano;
    notations.add(amount.notation);
  }
  const preferred: readonly Notation[] = ["binary", "decimal", "exponent"];
  return formatQuantity({ nano, notation: preferred.find((notation) => notations.has(notation)) ?? "decimal" });
}

function scaleOf(suffix: string): { readonly notation: Notation; readonly factor: bigint; readonly exponent: number } {
  if (/^[eE][+-]?[0-9]/.test(suffix)) {
    // Bounded, so that 1e999999999 is not computed.
    const exponent = Math.max(-2 * maxTextLength, Math.min(2 * maxTextLength, Number(suffix.slice(1))));
    return { notation: "exponent", factor: 1n, exponent };
  }
  if (suffix.endsWith("i")) {
    const power = binarySuffixes.findIndex((one) => one === suffix);
    return { notation: "binary", factor: 1024n ** BigInt(power), exponent: 0 };
  }
  const power = decimalSuffixes.findIndex((one) => one === suffix) - 3;
  return { notation: "decimal", factor: 1n, exponent: 3 * power };
}

/** `digits` times ten to the `power`, rounded up. */
function shifted(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}

function capped(nano: bigint): bigint {
  return nano > maxNano ? maxNano : nano;
}

function binaryText(units: bigint): string {
  let [mantissa, power] = [units, 0];
  while (mantissa % 1024n === 0n && power < binarySuffixes.length - 1) {
    [mantissa, power] = [mantissa / 1024n, power + 1];
  }
  return `${mantissa}${binarySuffixes[power]}`;
}

function decimalText(nano: bigint, isExponent: boolean): string {
  let [mantissa, power] = [nano, 0];
  while (mantissa % 1000n === 0n && power < decimalSuffixes.length - 1) {
    [mantissa, power] = [mantissa / 1000n, power + 1];
  }
  if (!isExponent) return `${mantissa}${decimalSuffixes[power]}`;
  return power === 3 ? `${mantissa}` : `${mantissa}e${3 * (power - 3)}`;
}
