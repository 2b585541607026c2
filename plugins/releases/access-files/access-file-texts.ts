/**
 * The file alone decides on access, both for a web server in front and for this service (contract
 * 40, access files).
 */
import type { AccountCredential } from '../../../ports/domain/access.js';
import type { LicenseCredential } from '../../../ports/domain/licensing.js';

export const ACCESS_FILE_VERSION = 3;

export const buildHeaderLine = (product: string): string =>
  `# aos-access format=${ACCESS_FILE_VERSION} product=${product}`;

const BCRYPT_PATTERN = /^\$2[aby](\$\d\d\$[./A-Za-z0-9]{53})$/;
const UNWRITABLE_NAME_PATTERN = /^#|[:\p{Cc}\u2028\u2029]/u;

/** Returns null when the hash is not bcrypt, or the file cannot contain the name. */
export function formatAccountLine(name: string, hash: string): string | null {
  const bcrypt = BCRYPT_PATTERN.exec(hash)?.[1];
  return bcrypt === undefined || name === '' || UNWRITABLE_NAME_PATTERN.test(name) ? null : `${name}:$2y${bcrypt}`;
}

/** Lists skipped names: one shaped like a license key's never belongs to an account. */
export function buildAccountLines(accounts: readonly AccountCredential[]): { lines: string[]; skipped: string[] } {
  const lines: string[] = [];
  const skipped: string[] = [];
  for (const { username, hash } of accounts) {
    const line = /^lic_/i.test(username) ? null : formatAccountLine(username, hash);
    if (line === null) skipped.push(username);
    else lines.push(line);
  }
  return { lines, skipped };
}

export const buildLicenseLines = (licenses: readonly LicenseCredential[]): string[] =>
  licenses.flatMap(({ name, hash }) => formatAccountLine(name, hash) ?? []);

export const buildHtpasswd = (product: string, lines: readonly string[]): string =>
  [buildHeaderLine(product), ...lines, ''].join('\n');

/** @param folder as the web server sees it */
export function buildHtaccess(product: string, folder: string): string {
  const separator = /^[A-Za-z]:\\/.test(folder) ? '\\' : '/';
  const file = [folder.replace(/[\\/]+$/, ''), product, '.htpasswd'].join(separator);
  return [
    buildHeaderLine(product),
    'AuthType Basic',
    `AuthName "Releases of ${product}"`,
    `AuthUserFile "${file}"`,
    'Require valid-user',
    '<FilesMatch "^\\.ht">',
    '  Require all denied',
    '</FilesMatch>',
    '',
  ].join('\n');
}

/**
 * Parses to lines by name. The first line of a name counts, as for Apache; malformed lines are
 * skipped.
 */
export function parseHtpasswd(text: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon > 0 && !line.startsWith('#') && !entries.has(name)) entries.set(name, line);
  }
  return entries;
}
