import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import tls, { type SecureContext } from 'node:tls';
import { BoundedMap } from '../../lib/bounded-map.js';

const CERTIFICATE_PATTERN = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export function findAuthorityFault(pem: string): string | null {
  const found = pem.match(CERTIFICATE_PATTERN) ?? [];
  if (found.length === 0) return 'must be a PEM certificate';
  try {
    return found.every((one) => new X509Certificate(one).raw.length > 0) ? null : 'does not contain a certificate';
  } catch {
    return 'contains a certificate that cannot be parsed';
  }
}

/** Each parses all root certificates. */
const tlsContexts = new BoundedMap<SecureContext>({ most: 100 });

/** `tls.getCACertificates` requires Node 22.15; it includes `NODE_EXTRA_CA_CERTS`. */
const listRoots = (): readonly string[] =>
  (tls as { getCACertificates?: (type: 'default') => string[] }).getCACertificates?.('default') ?? tls.rootCertificates;

/** @param own PEM; when empty, Node's default context applies */
export function getTlsContext(own: readonly string[]): SecureContext | undefined {
  if (own.length === 0) return undefined;
  const key = own.join('\n');
  const known = tlsContexts.get(key);
  if (known !== undefined) return known;
  const context = tls.createSecureContext({ ca: [...own, ...listRoots()] });
  tlsContexts.set(key, context);
  return context;
}

/** Returns the server name without its final dot (RFC 6066); undefined for an address. */
export const getServerName = (host: string): string | undefined =>
  isIP(host) === 0 ? host.replace(/\.$/, '') : undefined;
