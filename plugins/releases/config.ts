import joi from 'joi';

/** On the store's disk, so that smaller writes still fit. */
export const MIN_FREE_BYTES = 64 * 1024 * 1024;

export interface ReleasesConfig {
  url: 'mongodb:' | null;
  path: string;
  web_path: string | null;
  web_group: string | null;
  unpack_files: boolean;
  selftest_url: string | null;
  halt_after: number;
  halt_window_seconds: number;
  halt_sessions: number;
  halt_crash_free_points: number;
  halt_addresses: number;
}

function validateAddress(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Error('must be an http or https URL');
  if (url.username || url.password || url.search || url.hash)
    throw new Error('must be a URL without user, query and fragment');
  return url.href.replace(/\/+$/, '');
}

/** It stands within quotation marks in a web server directive. */
function validateWebPath(value: string): string {
  if (!/^(\/|[A-Za-z]:[\\/])/.test(value)) throw new Error('must be an absolute path');
  if (/["\p{Cc}]|\\$/u.test(value))
    throw new Error('must not contain a quotation mark, control character or trailing backslash');
  return value;
}

/** Another server would need separate credentials, backups and maintenance. */
function validateStoreUrl(value: string): string {
  if (value !== 'mongodb:') throw new Error('must be `mongodb:`, the database of storage.url, or omitted');
  return value;
}

function validateWebGroup(value: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$/.test(value)) throw new Error('must be the name or number of a group');
  return value;
}

export const releasesConfig = joi.object<ReleasesConfig>({
  url: joi
    .string()
    .allow(null)
    .default(null)
    .custom(validateStoreUrl)
    .description(
      '`mongodb:` stores packages in GridFS in the database of `storage.url`, for several processes without a shared directory; only this service can then serve them. Default: the directory `releases.path`.',
    ),
  path: joi
    .string()
    .default('releases')
    .description(
      'Directory of the release store, unless `releases.url` is set. A relative path is below the data directory.',
    ),
  web_path: joi
    .string()
    .allow(null)
    .default(null)
    .custom(validateWebPath)
    .description(
      'Path of the same directory on a web server in front of the service, for `AuthUserFile` in the access files. Default: the path on this service.',
    ),
  web_group: joi
    .string()
    .allow(null)
    .default(null)
    .custom(validateWebGroup)
    .description(
      'Group of a web server in front that serves the release store from this disk (`www-data`): `.htpasswd` is then 0640 with this group. This service must run as a member of it. Default: 0600, because this service serves the store itself; with `web_path`, 0644, which every local user can read.',
    ),
  unpack_files: joi
    .boolean()
    .default(true)
    .description(
      'Store the files of releases next to the packages, once per content, so that a download of changed files does not read the package (docs/changed-files.md). Costs the space of the unpacked files. `false`: each request unpacks them, and stored ones are removed.',
    ),
  selftest_url: joi
    .string()
    .allow(null)
    .default(null)
    .custom(validateAddress)
    .description(
      'Address for the self-test instead of `server.base_url`, if the public address is not reachable from this machine.',
    ),
  halt_after: joi
    .number()
    .integer()
    .min(0)
    .max(1_000_000)
    .default(5)
    .description(
      'A rollout below 100 % stops automatically once the error stream has counted more new groups than this.',
    ),
  halt_window_seconds: joi
    .number()
    .integer()
    .min(60)
    .max(7 * 86_400)
    .unit('seconds')
    .default(3_600)
    .description('Time window of `halt_after` and `halt_sessions`.'),
  halt_sessions: joi
    .number()
    .integer()
    .min(1)
    .max(1_000_000_000)
    .default(100)
    .description(
      'Minimum number of sessions of a version before they can stop its rollout below 100 % (`halt_crash_free_points`).',
    ),
  halt_crash_free_points: joi
    .number()
    .min(0.1)
    .max(100)
    .default(2)
    .description(
      'It stops when its share of crash-free sessions is at least this many percentage points below that of the previous version.',
    ),
  halt_addresses: joi
    .number()
    .integer()
    .min(1)
    .max(50)
    .default(2)
    .description(
      'New groups and crashes reported only with intake keys stop it when they came from this many different networks (IPv4 /24, IPv6 /48), and were at least 1 % of its sessions, or of its downloads if no sessions are reported. 1: for installations that share one network; anyone who knows the intake key can then stop a rollout.',
    ),
});
