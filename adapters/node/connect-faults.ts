import { findConnectFault } from '../../lib/http/outbound-fault.js';

/** Text of a failed connection, for people who read why a delivery or a check failed. */
export const describeConnectFault = (code: string | undefined, message: string): string =>
  findConnectFault(code) ?? `no connection: ${code || message}`;
