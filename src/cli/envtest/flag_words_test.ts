/** Tests of the flags of the stand-ins, in the syntax of the programs whose place they take. */
import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { type FlagProgram, FlagWordError, helpOfFlags, readFlagWords } from "./flag_words.ts";
import { apiServerProgram, etcdProgram } from "./programs.ts";

const flags = "data-dir help! plugins quick! secure-port v";
const pflag: FlagProgram = { name: "server", flags, syntax: "pflag" };
const go: FlagProgram = { name: "server", flags, syntax: "go" };

test("[139] a value follows a flag or its =, the last one counts, and commas separate the values of a list", () => {
  for (const program of [pflag, go]) {
    const read = readFlagWords(["--data-dir", "-a", "--data-dir=b=c", "--plugins=x,y", "--plugins", "z"], program);
    assertEquals(read.text("data-dir"), "b=c");
    assertEquals(read.list("plugins"), ["x", "y", "z"]);
    assertEquals(read.text("secure-port"), undefined);
    assertEquals(read.names, ["data-dir", "plugins"]);
  }
});

test("[139] given flags are printed as pflag does: lists in brackets, booleans as true and false", () => {
  const read = readFlagWords(["--plugins=x,y", "--plugins", "z", "--quick=T", "--help=0", "--data-dir=a"], pflag);
  assertEquals([...read.printed("plugins other")], [
    ["plugins", "[x,y,z]"],
    ["quick", "true"],
    ["help", "false"],
    ["data-dir", "a"],
  ]);
});

test("[139] a boolean needs no value, and takes those of Go", () => {
  assertEquals(readFlagWords(["--quick"], pflag).isSet("quick"), true);
  assertEquals(readFlagWords([], pflag).isSet("quick", true), true);
  for (const value of ["1", "t", "TRUE", "true"]) assert(readFlagWords([`--quick=${value}`], pflag).isSet("quick"));
  for (const value of ["0", "f", "False"]) assert(!readFlagWords([`--quick=${value}`], pflag).isSet("quick", true));
});

test("[139] one dash is enough for etcd; of kube-apiserver's flags only -h and -v have one", () => {
  assertEquals(readFlagWords(["-data-dir", "a", "-quick"], go).names, ["data-dir", "quick"]);
  for (const program of [pflag, go]) assert(readFlagWords(["-h"], program).isSet("help"));
  for (const words of [["-v", "2"], ["-v=2"], ["-v2"]]) assertEquals(readFlagWords(words, pflag).text("v"), "2");
});

test("[139] what the original refuses is refused, in its words and with its exit code", () => {
  const table: readonly (readonly [FlagProgram, words: readonly string[], message: string, code: number])[] = [
    [pflag, ["--insecure-port=0"], "unknown flag: --insecure-port", 1],
    [pflag, ["-data-dir=a"], "unknown shorthand flag: 'd' in -data-dir=a", 1],
    [pflag, ["--quick", "word"], '"server" does not take any arguments, got ["word"]', 1],
    [pflag, ["--", "a"], '"server" does not take any arguments, got ["--"]', 1],
    [pflag, ["--data-dir"], "flag needs an argument: --data-dir", 1],
    [pflag, ["--quick=maybe"], 'invalid argument "maybe" for "--quick" flag: use true or false', 1],
    [pflag, ["--constructor=1"], "unknown flag: --constructor", 1],
    [pflag, ["--__proto__=1"], "unknown flag: --__proto__", 1],
    [go, ["--nope"], "flag provided but not defined: -nope", 2],
    [go, ["word"], '"word" is not a valid flag', 1],
    [go, ["-data-dir"], "flag needs an argument: -data-dir", 2],
    [go, ["-quick=maybe"], 'invalid boolean value "maybe" for -quick: use true or false', 2],
  ];
  for (const [program, words, message, code] of table) {
    const error = assertThrows(() => readFlagWords(words, program));
    assert(error instanceof FlagWordError, `${error}`);
    assertEquals([error.message, error.code], [message, code]);
  }
});

test("[139] the help has one line for each flag, where envtest looks for --insecure-port and --unsafe-no-fsync", () => {
  const has = (program: FlagProgram, flag: string) =>
    new RegExp(`^\\s*--${flag}\\b`, "m").test(helpOfFlags(program, "About."));
  assert(!has(apiServerProgram, "insecure-port"));
  assert(has(apiServerProgram, "secure-port"));
  assert(has(etcdProgram, "unsafe-no-fsync"));
});
