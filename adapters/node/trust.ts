/** Whom a TLS handshake asks for, and whose certificates it trusts. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import tls, { type SecureContext } from 'node:tls';
import { BoundedMap } from '../../lib/bounded-map.js';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Why this is no certificate authority, in a few words; null: it is one, or several. */
export function findAuthorityFault(pem: string): string | null {
  const found = pem.match(PEM) ?? [];
  if (found.length === 0) return 'must be a certificate in PEM';
  try {
    return found.every((one) => new X509Certificate(one).raw.length > 0) ? null : 'holds no certificate';
  } catch {
    return 'holds a certificate that cannot be read';
  }
}

/** Contexts by their further authorities: each one parses all root certificates. */
const contexts = new BoundedMap<SecureContext>({ most: 100 });

/** `tls.getCACertificates` exists since Node 22.15, and includes those of `NODE_EXTRA_CA_CERTS`. */
const listRoots = (): readonly string[] =>
  (tls as { getCACertificates?: (type: 'default') => string[] }).getCACertificates?.('default') ?? tls.rootCertificates;

/**
 * A context that trusts further authorities in addition to the usual ones.
 * @param own PEM; empty: undefined is returned, and Node's own context is used
 */
export function getTlsContext(own: readonly string[]): SecureContext | undefined {
  if (own.length === 0) return undefined;
  const key = own.join('\n');
  const known = contexts.get(key);
  if (known !== undefined) return known;
  const context = tls.createSecureContext({ ca: [...own, ...listRoots()] });
  contexts.set(key, context);
  return context;
}

/** The name of a handshake: without a final dot (RFC 6066); undefined for an address. */
export const getServerName = (host: string): string | undefined =>
  isIP(host) === 0 ? host.replace(/\.$/, '') : undefined;
