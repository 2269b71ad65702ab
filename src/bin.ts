#!/usr/bin/env node
/** The program of the package. */
import { packageCli } from "./cli/mod.ts";
import { exitProcess } from "./runtime/mod.ts";

exitProcess(await packageCli());
