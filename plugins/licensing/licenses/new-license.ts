import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { LICENSE_CREATED } from '../../../ports/domain/licensing.js';
import type { LicensingDeps } from '../deps.js';
import type { LicenseDoc, LicensingOutboxEntry } from '../model/documents.js';
import type { NewLicense } from '../model/fields.js';
import { hashKey, maskKey, generateKey } from '../model/key.js';
import type { StoredState } from '../model/states.js';
import { formatEntitlements, getLicenseTerms } from '../model/terms.js';
import { toEventData } from '../model/view.js';
import { formatOutboxPosition } from '../../../lib/outbox.js';
import { KEY_PURPOSE } from './key-hashes.js';

type CreationDeps = Pick<LicensingDeps, 'clock' | 'ids' | 'cipher' | 'config'>;

/**
 * @param by name of the creator
 * @returns with its whole key
 */
export function createLicenseDoc(parts: CreationDeps, by: string, input: NewLicense): { doc: LicenseDoc; key: string } {
  const { clock, ids, cipher, config } = parts;
  const key = generateKey();
  const now = clock.iso();
  const status: StoredState = input.require_approval === true ? 'pending' : 'active';
  const { product, client_ref = null, licensee = null, email = null, expires_at = null } = input;
  const { max_activations = null, require_approval = false, features = {}, notes = null } = input;
  const { entitlements = [] } = input;
  const doc: LicenseDoc = {
    id: ids.uuid(),
    key_sha256: hashKey(key),
    key_masked: maskKey(key),
    key_sealed: cipher.seal(key, KEY_PURPOSE),
    key_hash: null,
    hash_due: now,
    product,
    client_ref,
    ...(client_ref !== null && { ref_key: getRefKey(product, client_ref) }),
    licensee,
    email,
    search: '',
    status,
    expires_at,
    max_activations,
    require_approval,
    features: JSON.stringify(features),
    notes,
    ...getLicenseTerms(input),
    entitlements: formatEntitlements(entitlements),
    created_at: now,
    created_by: by,
    updated_at: now,
    rev: 1,
    last_validated_at: null,
    last_validated_version: null,
    customer_releases: [],
    outbox: [],
    outbox_at: null,
  };
  Object.assign(doc, { search: buildSearchText(doc) }, getDueTimes(doc, config.expiring_days));
  const entry = buildLicenseEvent(parts, LICENSE_CREATED.event, doc);
  doc.outbox.push(entry);
  doc.outbox_at = formatOutboxPosition(entry);
  return { doc, key };
}

/**
 * Undefined members are removed.
 * @param days from the warning to the expiry
 */
export function getDueTimes(
  { status, expires_at }: Pick<LicenseDoc, 'status' | 'expires_at'>,
  days: number,
): { expire_due: string | undefined; warn_due: string | undefined } {
  if (status !== 'active' || expires_at === null) return { expire_due: undefined, warn_due: undefined };
  return { expire_due: expires_at, warn_due: toIsoString(Date.parse(expires_at) - days * DAY_MS) };
}

export function buildLicenseEvent(
  { ids, clock }: Pick<LicensingDeps, 'ids' | 'clock'>,
  event: string,
  license: LicenseDoc,
): LicensingOutboxEntry {
  return { id: `evt_${ids.uuid()}`, event, at: clock.iso(), data: toEventData(license, clock.now()) };
}

export const getRefKey = (product: string, client_ref: string): string => `${product} ${client_ref}`;

export const buildSearchText = ({
  licensee,
  email,
  key_masked,
}: Pick<LicenseDoc, 'licensee' | 'email' | 'key_masked'>): string =>
  [licensee ?? '', email ?? '', key_masked.slice(-5)].join('\n').toLowerCase();
