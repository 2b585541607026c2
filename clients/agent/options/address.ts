/** Addresses that the agent may contact (contract 90, what it sends). */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { AgentFailure } from '../exit.js';

const LOOPBACK_ADDRESSES = new BlockList();
LOOPBACK_ADDRESSES.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK_ADDRESSES.addAddress('::1', 'ipv6');

/**
 * Returns true for loopback names and addresses. Other names are not resolved, because DNS is not
 * trusted.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIPv4(bare)) return LOOPBACK_ADDRESSES.check(bare, 'ipv4');
  if (isIPv6(bare)) return LOOPBACK_ADDRESSES.check(bare, 'ipv6');
  return bare === 'localhost';
}

export function getAddressRejection(url: URL, allowHttp: boolean): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `the agent does not support the protocol ${url.protocol}`;
  if (url.username !== '' || url.password !== '') return 'an address must not contain credentials';
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname))
    return 'http is not encrypted; use https, or --allow-http';
  return null;
}

export function parseServerUrl(text: string, allowHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.search !== '' || url.hash !== '')
    throw new AgentFailure('usage', '--server must be an address such as https://aos.example.com');
  const why = getAddressRejection(url, allowHttp);
  if (why !== null) throw new AgentFailure('usage', `--server: ${why}`);
  return url;
}

/**
 * Resolves a path below the server's URL, whose own path is retained. `path` begins with a slash.
 */
export function resolveServerPath(server: URL, path: string): URL {
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}
