/** Proxy selection by curl's rules: `*_PROXY`, `ALL_PROXY` and `NO_PROXY`. */

type Env = Readonly<Record<string, string | undefined>>;

/** A proxy variable with an invalid URL. */
export class InvalidProxyVariable extends Error {
  override name = 'InvalidProxy';
}

/**
 * Returns the proxy for a request, or null. Lower-case variables take precedence, also over
 * `HTTP_PROXY`.
 * @throws InvalidProxyVariable
 */
export function getProxyForUrl(url: URL, env: Env): URL | null {
  if (isExcluded(url, readVariable(env, 'no_proxy').value)) return null;
  const specific = readVariable(env, url.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  const { name, value } = specific.value === '' ? readVariable(env, 'all_proxy') : specific;
  if (value === '') return null;
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : null;
  if (proxy === null || proxy.hostname === '' || !['http:', 'https:'].includes(proxy.protocol))
    throw new InvalidProxyVariable(`${name} must be host:port or an http:// or https:// address`);
  return proxy;
}

function readVariable(env: Env, lower: string): { name: string; value: string } {
  const upper = lower.toUpperCase();
  const name = (env[lower] ?? '').trim() === '' ? upper : lower;
  return { name, value: (env[name] ?? '').trim() };
}

/** Entries: `*`, a host, or a domain with optional leading dot or `*.`; optional port. */
function isExcluded({ hostname, port, protocol }: URL, list: string): boolean {
  const host = stripBrackets(hostname.toLowerCase());
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = '', wantedPort] = /^(\[[^\]]*\]|[^:]*|.*:.*:.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
      if (wantedPort !== undefined && wantedPort !== ownPort) return false;
      const domain = stripBrackets(name).replace(/^\*?\./, '');
      return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
    });
}

const stripBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');
