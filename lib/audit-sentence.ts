import { capitalize } from './sentence.js';

const AUDIT_PHRASES: Readonly<Record<string, string>> = {
  'access_files.regenerated': 'Regenerated access files',
  'incident.explained': 'Set root cause of incident',
  'incident.handed_back': 'Unacknowledged incident',
  'license.bulk_created': 'Created licenses',
  'license.expiring': 'License expires soon',
  'license.expired': 'License expired',
  'license.extended': 'Changed license expiry',
  'license.file_issued': 'Issued license file',
  'license.key_shown': 'Revealed license key',
  'license.machine_pending': 'Machine requested approval',
  'license.machine_released': 'Deactivated machine',
  'license.machine_released_by_customer': 'Customer deactivated machine',
  'login.failed': 'Sign-in failed',
  'login.locked': 'Sign-in locked',
  'login.refused': 'Sign-in denied',
  'login.succeeded': 'Signed in',
  'migrations.applied': 'Applied migrations',
  'project.brand_changed': 'Changed branding',
  'project.forge_secret_made': 'Created repository webhook secret',
  'release.rollout': 'Changed rollout',
  'credential.refused': 'Credential denied',
  'csrf.refused': 'Form token denied',
  'scope.refused': 'Access denied',
  'status_page.subscriber_removed': 'Removed subscriber',
  'user.password_changed': 'Changed password',
  'user.role_changed': 'Changed role',
  'user.totp_disabled': 'Disabled 2FA',
  'user.totp_enabled': 'Enabled 2FA',
  'user.totp_reset': 'Reset 2FA',
};

const NOUN_NAMES: Readonly<Record<string, string>> = {
  bug: 'issue',
  channel: 'alert channel',
  intake_key: 'intake key',
  request_rule: 'agent rule',
};

/**
 * Formats `token.revoked` as `Revoked token`, and `license.machine_blocked` as `Blocked machine`.
 */
export function formatAuditAction(action: string): string {
  const phrase = AUDIT_PHRASES[action];
  if (phrase !== undefined) return phrase;
  const [noun = '', ...rest] = action.split('.');
  const words = rest.join(' ').split('_');
  const verb = words.pop() ?? '';
  const object = words.length > 0 ? words.join(' ') : (NOUN_NAMES[noun] ?? noun.replaceAll('_', ' '));
  return verb === '' ? capitalize(object) : `${capitalize(verb)} ${object}`;
}

const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Formats a recorded value: times without seconds, texts without underscores; null is `none`. */
export function formatAuditValue(field: string, value: string | number | boolean | null): string {
  if (value === null || value === '') return 'none';
  if (field === 'rollout_percent') return `${value} %`;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string' && TIME_PATTERN.test(value)) return `${value.slice(0, 10)} ${value.slice(11, 16)} UTC`;
  return String(value);
}

const FIELD_NAMES: Readonly<Record<string, string>> = {
  cache_ttl_hours: 'offline grace (hours)',
  client_ref: 'reference',
  expires_at: 'expiry',
  licensee: 'customer',
  max_activations: 'machine limit',
  parent_source: 'parent',
  product: 'project',
  require_approval: 'manual approval',
  rollout_percent: 'rollout',
  setup_scopes: 'installer permissions',
};

export const formatAuditField = (field: string): string => FIELD_NAMES[field] ?? field.replaceAll('_', ' ');
