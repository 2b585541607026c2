/** Whom a TLS handshake asks for, and whose certificates it trusts. */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';

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

/** Authorities as node's TLS takes them; undefined: the usual ones. */
export const listTrustedAuthorities = (own: readonly string[]): string[] | undefined =>
  own.length === 0 ? undefined : [...own, ...rootCertificates];

/** The name of a handshake: without a final dot (RFC 6066); undefined for an address. */
export const getServerName = (host: string): string | undefined =>
  isIP(host) === 0 ? host.replace(/\.$/, '') : undefined;
