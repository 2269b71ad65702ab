/** What makes values safe to show: secrets are found by their name, by their shape, and by being in use. */
export { LiveSecrets, liveSecrets, mask, type Work } from "./live_secrets.ts";
export { errorText, type Plain, redact, redactText, redactWhole } from "./redact.ts";
export { isSecretName } from "./secret_names.ts";
export { maskShapes } from "./secret_shapes.ts";
