import { capitalize } from '../sentence.js';

const FAULT_PREFIX_PATTERN = /(^|: )(?:blocked|dns|connect|tls|timeout|reset|invalid_url|unsupported|protocol): /;

/** `connect: connection refused` → `Connection refused`, for pages and messages. */
export function formatOutboundFault(text: string): string {
  const plain = text.replace(FAULT_PREFIX_PATTERN, '$1');
  // A host keeps its spelling.
  return plain === text || /^\S*[.:]/.test(plain) ? plain : capitalize(plain);
}

const CONNECT_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['EHOSTUNREACH', 'host unreachable'],
  ['ENETUNREACH', 'network unreachable'],
  ['ETIMEDOUT', 'connection timed out'],
  ['ENOTFOUND', 'host not found'],
  ['EAI_AGAIN', 'host not found'],
  ['EACCES', 'connection not permitted'],
]);

/** Returns null for a code without a text. */
export const findConnectFault = (code: string | undefined): string | null => CONNECT_FAULTS.get(code ?? '') ?? null;
