const UNKNOWN_AUTHORITY_TEXT = 'The certificate is from an unknown authority';
const MISSING_CHAIN_TEXT = `${UNKNOWN_AUTHORITY_TEXT}, or the server does not send the intermediate certificate`;

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet',
  CERT_REVOKED: 'The certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY_TEXT,
  UNABLE_TO_GET_ISSUER_CERT: MISSING_CHAIN_TEXT,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: MISSING_CHAIN_TEXT,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: MISSING_CHAIN_TEXT,
};

export const describeCertificateError = (code: string | null): string | null =>
  code !== null && Object.hasOwn(ERROR_TEXTS, code) ? `${ERROR_TEXTS[code]} (${code})` : null;
