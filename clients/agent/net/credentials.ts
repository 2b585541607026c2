/**
 * HTTP Basic credentials for the release store (contract 40, access files; specification, "Release
 * store").
 */
import { createHash } from 'node:crypto';
import { getCredentialName } from '../../../lib/formats/license-key.js';
import type { CheckedOptions } from '../options.js';
import { askPassword } from '../secrets.js';

export interface DownloadCredentials {
  authorization: string | null;
  /** Text after `UNAUTHORIZED:`: who was denied, and who has access. */
  refused: string;
}

const ROLES =
  'every enabled account has access (admin, installer, member), and so has a license key of the product (--license-key)';

/**
 * Resolves the credentials. An account precedes a license key, because it was given for this run.
 */
export async function credentialsOf(options: CheckedOptions, signal: AbortSignal): Promise<DownloadCredentials> {
  const { username, licenseKey } = options;
  if (username !== null) {
    const password = options.password ?? (await askPassword(username, signal));
    return { authorization: basic(username, password), refused: `the account ${username} was refused; ${ROLES}` };
  }
  if (licenseKey === null) return { authorization: null, refused: `the release store wants credentials; ${ROLES}` };
  const name = getCredentialName(createHash('sha256').update(licenseKey).digest('hex'));
  return {
    authorization: basic(name, licenseKey),
    refused: 'the license key was refused: it is of another product, expired or not active',
  };
}

const basic = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`;
