/** Which addresses the agent speaks to (contract 90, what it sends). */
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { AgentFailure } from '../exit.js';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** This machine, by its name or address. Other names are not looked up: what they resolve to is not ours to trust. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIPv4(bare)) return LOOPBACK.check(bare, 'ipv4');
  if (isIPv6(bare)) return LOOPBACK.check(bare, 'ipv6');
  return bare === 'localhost';
}

/** Why the agent does not speak to this address; null: it does. */
export function refusedAddress(url: URL, allowHttp: boolean): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `${url.protocol} is no protocol of the agent`;
  if (url.username !== '' || url.password !== '') return 'credentials do not belong into an address';
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname))
    return 'http is not protected on the way: use https, or --allow-http';
  return null;
}

/** `--server`: the address of the service, which may have a path. */
export function serverUrl(text: string, allowHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.search !== '' || url.hash !== '')
    throw new AgentFailure('usage', '--server must be an address such as https://aos.example.com');
  const why = refusedAddress(url, allowHttp);
  if (why !== null) throw new AgentFailure('usage', `--server: ${why}`);
  return url;
}

/** An address below the server's, whose own path stays. `path` begins with a slash. */
export function below(server: URL, path: string): URL {
  const url = new URL(server);
  url.pathname = `${server.pathname.replace(/\/+$/, '')}${path}`;
  return url;
}
