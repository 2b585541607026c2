import joi from 'joi';
import { withSchemaName, withJsonSchema } from '../../../kernel/contract/index.js';
import { toIsoString, isTimestamp } from '../../../lib/time.js';
import type { Json } from '../../../ports/store/index.js';
import type { LicenseState } from './states.js';

export interface LicenseFields {
  licensee?: string | null;
  email?: string | null;
  notes?: string | null;
  features?: { [name: string]: Json };
  max_activations?: number | null;
  require_approval?: boolean;
  expires_at?: string | null;
  floating?: boolean;
  lease_seconds?: number;
  overdraft?: number;
  grace_days?: number;
  entitlements?: { name: string; until?: string | null }[];
}

export interface NewLicense extends LicenseFields {
  product: string;
  client_ref?: string | null;
  count?: number;
}

export interface LicenseQuery {
  limit: number;
  cursor?: string;
  include_total?: boolean;
  q?: string;
  status?: LicenseState;
  product?: string;
  client_ref?: string;
  key_sha256?: string;
}

/** URLs never contain the key itself. */
export const keyHashSchema = joi.string().pattern(/^[0-9a-fA-F]{64}$/, 'hex SHA-256 of the canonical key');

const MAX_FEATURES_BYTES = 8 * 1024;
export const MAX_ACTIVATIONS = 10_000;
export const MIN_LEASE_SECONDS = 60;
export const MAX_LEASE_SECONDS = 86_400;
export const MAX_GRACE_DAYS = 3_650;
export const MAX_ENTITLEMENTS = 100;
export const MAX_LICENSES_PER_REQUEST = 1_000;

const lineSchema = (max: number) =>
  joi
    .string()
    .max(max)
    .pattern(/[\p{Cc}\p{Cs}]/u, { invert: true, name: 'free of control characters' });

/** Normalizes RFC 3339 with any offset to UTC with milliseconds. */
export const timestampSchema = withJsonSchema(
  { format: 'date-time' },
  joi.string().custom((text: string, helpers) => {
    return isTimestamp(text)
      ? toIsoString(Date.parse(text))
      : helpers.message({ custom: 'must be an RFC 3339 timestamp' });
  }),
);

/** RFC 8785 encodes no lone surrogates and no infinite numbers. */
function isSignable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isSignable(member));
}

const featuresSchema = joi
  .object()
  .unknown()
  .custom((value: object, helpers) => {
    if (Buffer.byteLength(JSON.stringify(value)) > MAX_FEATURES_BYTES)
      return helpers.message({ custom: 'must be at most 8 KiB of JSON' });
    return isSignable(value)
      ? value
      : helpers.message({ custom: 'contains text or numbers that RFC 8785 cannot represent' });
  });

const sharedFields = {
  licensee: lineSchema(200).allow(null, '').description('Owner of the license'),
  email: lineSchema(254).allow(null, '').description('Contact address of the licensee'),
  notes: joi.string().max(5_000).allow(null, '').description('For administrators; never sent to a client'),
  features: featuresSchema.description('Features that the license unlocks, for the application; at most 8 KiB'),
  max_activations: joi
    .number()
    .integer()
    .min(1)
    .max(MAX_ACTIVATIONS)
    .allow(null)
    .description('Maximum machines; null for unlimited'),
  require_approval: joi
    .boolean()
    .description('The license starts as `pending`, and machines beyond the limit wait for an approval'),
  expires_at: timestampSchema.allow(null).description('Null for no end'),
  floating: joi
    .boolean()
    .description('`max_activations` limits the machines that use the license at the same time, each with a lease'),
  lease_seconds: joi
    .number()
    .integer()
    .min(MIN_LEASE_SECONDS)
    .max(MAX_LEASE_SECONDS)
    .description('How long a machine holds a floating seat without renewal; default 900'),
  overdraft: joi
    .number()
    .integer()
    .min(0)
    .max(MAX_ACTIVATIONS)
    .description('Floating seats beyond `max_activations`; default 0'),
  grace_days: joi
    .number()
    .integer()
    .min(0)
    .max(MAX_GRACE_DAYS)
    .description('Days after `expires_at` with the status `grace`, which is valid; default 0'),
  entitlements: joi
    .array()
    .items(
      joi.object({
        name: lineSchema(100).min(1).required(),
        until: timestampSchema.allow(null).description('Null for the lifetime of the license'),
      }),
    )
    .max(MAX_ENTITLEMENTS)
    .unique('name')
    .description('Named features of the license, each with an optional end'),
};

export const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const productField = joi.string().pattern(SLUG_PATTERN, 'the slug of a project');

const immutableField = (fix: string): joi.Schema =>
  joi
    .any()
    .forbidden()
    .messages({ 'any.unknown': `cannot be changed: ${fix}` });

export const createBody = withSchemaName(
  'LicenseCreation',
  joi
    .object({
      product: productField.required().description('The project of the license'),
      project: productField.description('Alias of product, as in responses'),
      client_ref: lineSchema(128)
        .min(1)
        .allow(null)
        .description('ID of the license in the shop, unique per product: a repeat returns the same license'),
      count: joi
        .number()
        .integer()
        .min(1)
        .max(MAX_LICENSES_PER_REQUEST)
        .description('Creates this many identical licenses and returns `items`; cannot be combined with `client_ref`'),
      ...sharedFields,
    })
    .oxor('count', 'client_ref')
    .messages({ 'object.oxor': '`count` and `client_ref` cannot be combined' })
    .example({ product: 'shop', licensee: 'Ada Ltd', client_ref: 'order-1001', max_activations: 3 }),
);

export const changeBody = withSchemaName(
  'LicenseChange',
  joi
    .object({
      ...sharedFields,
      product: immutableField('create another license'),
      project: immutableField('it is the product'),
      client_ref: immutableField('create another license'),
    })
    .example({ licensee: 'Ada Ltd', max_activations: 5 }),
);

export function normalizeEmptyFields<T extends LicenseFields>(fields: T): T {
  const blank = (['licensee', 'email', 'notes'] as const).filter((name) => fields[name] === '');
  return { ...fields, ...Object.fromEntries(blank.map((name) => [name, null])) };
}
