/**
 * HTTP Basic credentials for the release store (contract 40, access files; specification, "Release
 * store").
 */
import { createHash } from 'node:crypto';
import { getCredentialName } from '../../../lib/formats/license-key.js';
import type { CheckedOptions } from '../options/index.js';
import { promptPassword } from '../secrets.js';

export interface DownloadCredentials {
  authorization: string | null;
  /** Text after `UNAUTHORIZED:`: who was denied, and who has access. */
  refused: string;
}

const ACCESS_HINT = 'use an enabled account (admin, installer, member) or a license key of the product (--license-key)';

/** An account precedes a license key, because it was given for this run. */
export async function resolveCredentials(options: CheckedOptions, signal: AbortSignal): Promise<DownloadCredentials> {
  const { username, licenseKey } = options;
  if (username !== null) {
    const password = options.password ?? (await promptPassword(username, signal));
    return {
      authorization: formatBasicAuth(username, password),
      refused: `access was denied for account ${username}; ${ACCESS_HINT}`,
    };
  }
  if (licenseKey === null)
    return { authorization: null, refused: `the release store requires credentials; ${ACCESS_HINT}` };
  const name = getCredentialName(createHash('sha256').update(licenseKey).digest('hex'));
  return {
    authorization: formatBasicAuth(name, licenseKey),
    refused: 'the license key was rejected: it is for another product, expired or not active',
  };
}

const formatBasicAuth = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`;
