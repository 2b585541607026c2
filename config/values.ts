import { createPrivateKey, type KeyObject } from 'node:crypto';

export function validateTimezone(value: string): string {
  if (value === 'UTC') return value;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).format(0) === '' ? '' : value;
  } catch {
    throw new Error('must be an IANA time zone, for example Europe/Berlin');
  }
}

export function validateBaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an http or https URL');
  if (url.username || url.password || url.search || url.hash) {
    throw new Error('must be a URL without user, query and fragment');
  }
  return url.href.replace(/\/+$/, '');
}

export function validateStorageUrl(value: string): string {
  if (value === 'memory:' || /^sqlite:./.test(value) || /^mongodb(\+srv)?:\/\/./.test(value)) return value;
  throw new Error('must be sqlite:<path>, mongodb://…, mongodb+srv://… or memory:');
}

/** PEM private key, or a seed of at least 32 characters (contract 50, license files). */
export function validateLicenseKey(value: string): string {
  if (!value.includes('-----BEGIN')) {
    if (value.length < 32) throw new Error('must be a PEM private key, or at least 32 characters long');
    return value;
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(value);
  } catch {
    throw new Error('is not a readable PEM private key');
  }
  const type = key.asymmetricKeyType;
  if (type !== 'ed25519' && type !== 'rsa') throw new Error('must be an Ed25519 or RSA private key');
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 2048;
  if (bits < 2048) throw new Error(`has ${bits} bits; an RSA key needs at least 2,048`);
  return value;
}

export function validateDataKey(value: string): string {
  if (value.length < 32) throw new Error('must be at least 32 characters long');
  return value;
}
