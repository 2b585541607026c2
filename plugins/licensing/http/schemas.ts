import joi from 'joi';
import { withSchemaName, createPageSchema, withJsonSchema, whole } from '../../../kernel/contract/index.js';
import { keyHashSchema, productField, timestampSchema } from '../model/fields.js';
import { LICENSE_STATES } from '../model/states.js';
import { ACTIVATION_STATES } from '../model/documents.js';
import { LICENSE_STATUSES } from '../../../lib/formats/license-status.js';
import { REJECTION_REASONS } from '../validation/license-validator.js';
import { optionalLineSchema } from '../validation/request-schemas.js';

const isoDateSchema = joi.string().isoDate();
const text = joi.string();

const state = withSchemaName('LicenseState', joi.string().valid(...LICENSE_STATES));
const activationState = withSchemaName('ActivationState', joi.string().valid(...ACTIVATION_STATES));
const count = joi.number().integer().min(0);
const entitlementsSchema = joi.array().items(whole({ name: text, until: isoDateSchema.allow(null) }));
const features = joi.object().unknown();

export const validateAnswer = withSchemaName(
  'LicenseAnswer',
  whole({
    status: withSchemaName('LicenseAnswerStatus', joi.string().valid(...LICENSE_STATUSES)),
    valid: joi.boolean().description('Only when `status` is `active` or `grace`'),
    product: text.description('As requested'),
    expires_at: isoDateSchema.allow(null),
    checked_at: isoDateSchema,
    cache_ttl_hours: count.description('How long the response may be used without a new validation'),
    licensee: text.allow(null, ''),
    features: features.allow(null),
    activation: joi
      .object({ status: activationState.allow(null), used: count, max: count.allow(null) })
      .allow(null)
      .description('State of the given machine; `status` is null without a seat'),
    nonce: text.allow(null, ''),
    message: text,
    key_sha256: text.description('Hash of the canonical key, as requested'),
    machine_id: text.allow(null).description('As requested'),
    alg: joi.string().valid('ed25519', 'rsa-sha256'),
    kid: text,
    signature: text.description('Base64 signature of all other members as RFC 8785 JSON'),
  }).append({
    entitlements: entitlementsSchema.description('Active entitlements; omitted if there are none'),
    grace_until: isoDateSchema.description(
      'Until then the status of an expired license is `grace`; omitted without `grace_days`',
    ),
    lease: whole({ id: text, expires_at: isoDateSchema })
      .allow(null)
      .description('Seat of a floating license; null without a seat. Validate again before it ends'),
    seats: whole({ used: count, max: count.allow(null) }).description('Of a floating license'),
    warnings: joi.array().items(text).description('Only if a parameter was ignored'),
  }),
);

const activationFieldsSchema = whole({
  id: text,
  license_id: text,
  machine_id: text,
  machine_name: text.allow(null, ''),
  platform: text.allow(null, ''),
  app_version: text.allow(null, ''),
  status: activationState,
  first_seen: isoDateSchema,
  last_seen: isoDateSchema,
  file_until: isoDateSchema
    .allow(null)
    .description('A `.lic` is valid until then, and the seat is reserved until then'),
});
export const activationSchema = withSchemaName('Activation', activationFieldsSchema);
export const activationAnswer = withSchemaName('ActivationAnswer', whole({ activation: activationSchema }));
export const activationPageSchema = createPageSchema('ActivationPage', activationSchema);

export const deactivateAnswer = withSchemaName(
  'LicenseDeactivated',
  whole({
    status: state,
    released: joi.boolean().description('Also true on a repeat; if false, `reason` says why'),
    activation: activationSchema.allow(null),
  }).keys({
    reason: joi
      .string()
      .valid(...REJECTION_REASONS)
      .description('With `released` false; `file_until`: a `.lic` is valid until the `file_until` of the activation'),
  }),
);

export const releaseAnswer = withSchemaName('LeaseReleased', whole({ released: joi.boolean(), lease_id: text }));

const leaseSchema = withSchemaName(
  'Lease',
  whole({
    id: text,
    license_id: text,
    machine_id: text,
    machine_name: text.allow(null, ''),
    platform: text.allow(null, ''),
    app_version: text.allow(null, ''),
    taken_at: isoDateSchema,
    renewed_at: isoDateSchema,
    expires_at: isoDateSchema.description('The seat is released then, unless it is renewed'),
  }),
);
export const leaseAnswer = withSchemaName('LeaseAnswer', whole({ lease: leaseSchema }));
export const leasePageSchema = createPageSchema('LeasePage', leaseSchema);

const publicKeyJson = withSchemaName(
  'LicensePublicKey',
  whole({
    algorithm: joi.string().valid('ed25519', 'rsa-sha256'),
    kid: text.description('First 16 hex characters of SHA-256 over the SPKI DER'),
    public_key: text.description('SPKI, PEM'),
    predecessors: joi
      .array()
      .items(whole({ kid: text, algorithm: text, public_key: text, signature: text }))
      .description('Newest first; each `signature` is created by that key for the SPKI DER of its successor'),
  }),
);

export const pubkeyQuery = joi.object({
  format: joi.string().valid('json', 'pem').default('json').description('`pem`: only the key'),
});
export const pubkeyAnswer = joi.alternatives(
  publicKeyJson,
  withJsonSchema({ contentMediaType: 'application/x-pem-file' }, joi.string()),
);

const licenseSchema = withSchemaName(
  'License',
  whole({
    id: text,
    key: text.description('Masked, except in the response that creates it'),
    client_ref: text.allow(null),
    product: text,
    project: text,
    licensee: text.allow(null),
    email: text.allow(null),
    status: state,
    expires_at: isoDateSchema.allow(null),
    max_activations: count.allow(null).description('Null for unlimited'),
    require_approval: joi.boolean(),
    features,
    notes: text.allow(null),
    floating: joi.boolean(),
    lease_seconds: count,
    overdraft: count,
    grace_days: count,
    entitlements: entitlementsSchema,
    cache_ttl_hours: count.description('Of the project'),
    created_at: isoDateSchema,
    created_by: text,
    updated_at: isoDateSchema,
    last_validated_at: isoDateSchema.allow(null),
    last_validated_version: text.allow(null, ''),
  }),
);
export const licenseAnswer = withSchemaName('LicenseAnswerOne', whole({ license: licenseSchema }));
const createdFields = { license: licenseSchema, key: text.description('The complete key; it is only shown here') };
export const createdLicenseAnswer = withSchemaName('LicenseMade', whole(createdFields));
export const createdLicensesAnswer = withSchemaName(
  'LicensesMade',
  joi.object({
    license: licenseSchema,
    key: text,
    items: joi.array().items(whole(createdFields)).description('With `count`'),
  }),
);
export const licensePageSchema = createPageSchema('LicensePage', licenseSchema);

const id = joi.string().max(64).required();
export const licenseParams = joi.object({ id });
export const activationParams = joi.object({ id, aid: joi.string().max(64).required() });
export const leaseParams = joi.object({ id, lid: joi.string().max(64).required() });
export const refParams = joi.object({ product: productField.required(), client_ref: joi.string().max(128).required() });

const listQuery = {
  limit: joi.number().integer().min(1).max(200).default(50),
  cursor: joi.string().max(4096),
  include_total: joi.boolean().default(false),
};
export const licenseFilterFields = {
  q: joi.string().max(200).allow('').description('Licensee, e-mail address, or the last group of the key'),
  status: joi.string().valid(...LICENSE_STATES),
  product: productField,
  client_ref: joi.string().max(128),
  key_sha256: keyHashSchema.description('Finds one license by the hash of its key; keys must not be sent in URLs'),
};
export const licensesQuery = joi.object({ ...listQuery, ...licenseFilterFields });
export const csvQuery = joi.object(licenseFilterFields);
export const leasesQuery = joi.object(listQuery);
export const activationsQuery = joi.object({ ...listQuery, status: joi.string().valid(...ACTIVATION_STATES) });

export const reasonBody = withSchemaName(
  'LicenseReason',
  joi.object({ reason: optionalLineSchema(500).description('For the audit log') }),
);
export const deactivationBody = withSchemaName(
  'LicenseSwitch',
  joi.object({ reason: optionalLineSchema(500).description('For the audit log'), permanent: joi.boolean() }),
);
export const extendBody = withSchemaName(
  'LicenseExtension',
  joi
    .object({ expires_at: timestampSchema.allow(null).required().description('Absolute; null for no end') })
    .example({ expires_at: '2027-12-31T23:59:59Z' }),
);
export const extendRefBody = withSchemaName(
  'ShopExtension',
  joi
    .object({ expires_at: timestampSchema.required().description('Absolute; one that is not later changes nothing') })
    .example({ expires_at: '2027-12-31T23:59:59Z' }),
);
