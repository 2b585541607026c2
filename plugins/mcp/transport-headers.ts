/** Revisions with batches; later ones removed them. A missing header means 2025-03-26. */
const BATCH_REVISIONS = new Set(['2024-11-05', '2025-03-26']);

export const allowsBatches = (revision: string | undefined): boolean =>
  revision === undefined || BATCH_REVISIONS.has(revision.trim());

const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Only browsers send `Origin`, also after DNS rebinding. Allowed: no origin, the service's own,
 * loopback origins while the service itself is on loopback, and configured ones.
 */
export function isOriginAllowed(origin: string | undefined, baseUrl: string, allowed: readonly string[]): boolean {
  if (origin === undefined) return true;
  const given = parseUrl(origin);
  const own = parseUrl(baseUrl);
  if (given === null) return false;
  if (
    own !== null &&
    (given.origin === own.origin || (LOOPBACK_HOSTS.has(own.hostname) && LOOPBACK_HOSTS.has(given.hostname)))
  ) {
    return true;
  }
  return allowed.some((one) => parseUrl(one)?.origin === given.origin);
}

/** Null for `null`, the origin of a sandboxed page. */
function parseUrl(text: string): URL | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null;
}

/** The protocol requires `text/event-stream` too. */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const isExcluded = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return !isExcluded && ['application/json', 'application/*', '*/*'].includes(type);
  });
}

export const isJson = (contentType: string | undefined): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json';
