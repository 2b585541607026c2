/** Texts of failed connections, for people who read why a delivery or a check failed. */
const CONNECT_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['EHOSTUNREACH', 'host unreachable'],
  ['ENETUNREACH', 'network unreachable'],
  ['ETIMEDOUT', 'connection timed out'],
  ['ENOTFOUND', 'host not found'],
  ['EACCES', 'connection not permitted'],
]);

export const describeConnectFault = (code: string | undefined, message: string): string =>
  CONNECT_FAULTS.get(code ?? '') ?? `no connection: ${code || message}`;
