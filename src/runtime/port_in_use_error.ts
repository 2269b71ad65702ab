/** PortInUseError: why a server cannot start, as a type, because the command line has an exit code of its own for it. */

/** The port, on this address, belongs to somebody else. */
export class PortInUseError extends Error {
  override readonly name = "PortInUseError";
  readonly hostname: string;
  readonly port: number;

  constructor(hostname: string, port: number, options?: ErrorOptions) {
    super(`Cannot listen on ${hostname}:${port}: the port is in use`, options);
    this.hostname = hostname;
    this.port = port;
  }
}
