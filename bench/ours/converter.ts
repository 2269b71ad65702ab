/**
 * An operator whose kind has two versions, so that it serves `/convert`; compiled as a user's operator is. The hostile
 * conversions of the benchmark are sent to it.
 */
import process from "node:process";
import { clockController } from "../../src/manager/testing/cron_tabs.ts";
import { operatorCli } from "../../src/mod.ts";

process.exit(await operatorCli({ name: "converter", controllers: [clockController] }));
