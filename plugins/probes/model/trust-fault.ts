const NO_AUTHORITY = 'The certificate is of an authority that this machine does not know';
const NO_CHAIN = `${NO_AUTHORITY}, or the server leaves out the certificate between`;

const FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet',
  CERT_REVOKED: 'The certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is signed by itself and by nobody else',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host',
  SELF_SIGNED_CERT_IN_CHAIN: NO_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: NO_CHAIN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NO_CHAIN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NO_CHAIN,
};

export const describeTrustFault = (code: string | null): string | null =>
  code !== null && Object.hasOwn(FAULTS, code) ? `${FAULTS[code]} (${code})` : null;
