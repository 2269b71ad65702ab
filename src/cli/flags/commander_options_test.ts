import { z } from "zod";
import { Command } from "@commander-js/extra-typings";
import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { redactText } from "../../observe/mod.ts";
import { addFlags, readFlags, UsageError } from "./commander_options.ts";
import { type ConnectionFlags, connectionFlags } from "../connection/connection_flags.ts";
import { environmentName, flag, flagsOf } from "./flag.ts";
import { namespaceName } from "./flag_values.ts";
import { logFlags } from "../command/session.ts";

function parse(args: readonly string[], environment: Readonly<Record<string, string>> = {}): ConnectionFlags {
  const command = new Command("test").exitOverride().configureOutput({ outputError: () => {} });
  addFlags(command, connectionFlags);
  command.parse(args, { from: "user" });
  return readFlags(command, connectionFlags, { operatorName: "controller", environment });
}

test("readFlags() returns the typed values, and the defaults of all other flags", () => {
  const flags = parse(["--context", "kind-a", "-s", "https://a:1", "--as-group", "x", "--as-group", "y"]);
  assertEquals(flags.context, "kind-a");
  assertEquals(flags.server, "https://a:1");
  assertEquals(flags.asGroup, ["x", "y"]);
  assertEquals([flags.connectTimeout, flags.requestTimeout, flags.insecureSkipTlsVerify], [30_000, 0, undefined]);
  assertEquals(flags.token, undefined);
});

test("--master is an alias of --server", () => {
  assertEquals(parse(["--master", "https://b:1"]).server, "https://b:1");
  assertEquals(parse(["--master=https://b:1", "--server=https://a:1"]).server, "https://a:1");
});

test("the command line overrides the environment, which overrides the default", () => {
  const environment = {
    CONTROLLER_CONTEXT: "from-env",
    CONTROLLER_CONNECT_TIMEOUT: "1m30s",
    CONTROLLER_INSECURE_SKIP_TLS_VERIFY: "true",
    CONTROLLER_AS_GROUP: "x,y",
    CONTROLLER_USER: "",
  };
  const flags = parse(["--context", "typed"], environment);
  assertEquals([flags.context, flags.connectTimeout, flags.insecureSkipTlsVerify], ["typed", 90_000, true]);
  assertEquals(flags.asGroup, ["x", "y"]);
  assertEquals(flags.user, undefined);
});

test("[84] an invalid value is a usage error that names the flag and shows a correct use", () => {
  const typed = assertThrows(() => parse(["--connect-timeout", "30"]));
  assertEquals(typed.message, 'Cannot parse --connect-timeout "30": it is not a duration with a unit (ms, s, m, h)');
  assert(typed instanceof UsageError && typed.advice === "Example: --connect-timeout 1m30s");
  const fromEnvironment = assertThrows(() => parse([], { CONTROLLER_REQUEST_TIMEOUT: "soon" }));
  assertEquals(
    fromEnvironment.message,
    'Cannot parse CONTROLLER_REQUEST_TIMEOUT "soon": it is not a duration with a unit (ms, s, m, h)',
  );
  assertThrows(
    () => parse([], { CONTROLLER_INSECURE_SKIP_TLS_VERIFY: "yes" }),
    /VERIFY "yes": it is neither true nor false$/,
  );
  assertThrows(() => parse(["--context="]), /Cannot parse --context "": it is empty/);
});

test("[84] a name that cannot exist is a usage error with the rule, in every flag and variable that takes one", () => {
  const label = "it is not an RFC 1123 label: lower case letters, digits and -";
  const typed = assertThrows(() => parse(["-n", "Bad_ns"]));
  assert(typed.message.startsWith(`Cannot parse --namespace "Bad_ns": ${label}`), typed.message);
  const fromEnvironment = assertThrows(() => parse([], { CONTROLLER_NAMESPACE: "a.b" }));
  assert(fromEnvironment.message.startsWith(`Cannot parse CONTROLLER_NAMESPACE "a.b": ${label}`));
});

test("an error about one value of a list quotes only that value, and cuts a long one", () => {
  const schema = z.object({
    names: flag(z.array(namespaceName()), { flags: "--names <name>", about: "names", arity: "list" }),
  });
  const read = (...args: readonly string[]) => {
    const command = new Command("test").exitOverride();
    addFlags(command, schema);
    command.parse(args, { from: "user" });
    return assertThrows(() => readFlags(command, schema, { operatorName: "op", environment: {} })).message;
  };
  assert(
    read("--names", "good", "--names", "Bad", "--names", "fine").startsWith('Cannot parse --names "Bad": it is not'),
  );
  const long = read("--names", "x".repeat(100_000));
  assert(long.length < 500 && /x\.\.\.": it is not an RFC 1123 label/.test(long), long.slice(0, 300));
});

test("an error about a secret does not quote it", () => {
  const error = assertThrows(() => parse(["--token", ""]));
  assertEquals(error.message, "Cannot parse --token [masked]: it is empty");
  assertEquals(redactText(error.message), error.message, "the problem is not masked as if it were the token");
});

test("-v counts, also in the environment", () => {
  const read = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) => {
    const command = new Command("test").exitOverride();
    addFlags(command, logFlags);
    command.parse(args, { from: "user" });
    return readFlags(command, logFlags, { operatorName: "controller", environment }).verbose;
  };
  assertEquals(read([]), 0);
  assertEquals(read(["-vv", "-v"]), 3);
  assertEquals(read([], { CONTROLLER_VERBOSE: "2" }), 2);
  assertThrows(() => read([], { CONTROLLER_VERBOSE: "very" }), /CONTROLLER_VERBOSE "very"/);
  assertThrows(() => read([], { CONTROLLER_VERBOSE: "much" }), /VERBOSE "much": it is not a number from 0 to 9$/);
});

test("the variable of a flag is its long name in upper case, after the operator's name", () => {
  const names = flagsOf(connectionFlags).map((flag) => environmentName("my-operator", flag));
  assert(names.includes("MY_OPERATOR_TLS_SERVER_NAME") && names.includes("MY_OPERATOR_KUBECONFIG"));
  assertEquals(new Set(names).size, names.length);
});
