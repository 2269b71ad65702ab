/** The configuration file of a command: the flag that names it, and its content. */
export { configFlag, parseConfigFile, readConfigFile, readConfigText, rereadConfigFile } from "./config_file.ts";
