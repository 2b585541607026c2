/** Request and response schemas of `/api/license/v1` (contract 50). */
import joi from 'joi';
import { named, pageOf, stated, whole } from '../../../kernel/contract.js';
import { keyHash, productField, timestamp } from '../model/fields.js';
import { STATES } from '../model/states.js';
import { ACTIVATION_STATES } from '../model/documents.js';
import { LICENSE_STATUSES } from '../../../lib/formats/license-status.js';
import { REJECTION_REASONS } from '../online/online.js';
import { optionalLine } from '../online/questions.js';

const at = joi.string().isoDate();
const text = joi.string();

const state = named('LicenseState', joi.string().valid(...STATES));
const activationState = named('ActivationState', joi.string().valid(...ACTIVATION_STATES));
const count = joi.number().integer().min(0);
const features = joi.object().unknown();

export const validateAnswer = named(
  'LicenseAnswer',
  whole({
    status: named('LicenseAnswerStatus', joi.string().valid(...LICENSE_STATUSES)),
    valid: joi.boolean().description('Only when `status` is `active`'),
    product: text.description('As asked'),
    expires_at: at.allow(null),
    checked_at: at,
    cache_ttl_hours: count.description('How long the answer may be gone by without another one'),
    licensee: text.allow(null, ''),
    features: features.allow(null),
    activation: joi
      .object({ status: activationState.allow(null), used: count, max: count.allow(null) })
      .allow(null)
      .description('Of the machine that was named; `status` null: it has no place'),
    nonce: text.allow(null, ''),
    message: text,
    key_sha256: text.description('Of the canonical key, as asked'),
    machine_id: text.allow(null).description('As asked'),
    alg: joi.string().valid('ed25519', 'rsa-sha256'),
    kid: text,
    signature: text.description('Base64; over all other members as RFC 8785 JSON'),
  }).append({ warnings: joi.array().items(text).description('Only where a parameter was ignored') }),
);

const shownActivation = whole({
  id: text,
  license_id: text,
  machine_id: text,
  machine_name: text.allow(null, ''),
  platform: text.allow(null, ''),
  app_version: text.allow(null, ''),
  status: activationState,
  first_seen: at,
  last_seen: at,
  file_until: at.allow(null).description('A `.lic` is good until then, and the place is kept as long'),
});
export const activationShape = named('Activation', shownActivation);
export const activationAnswer = named('ActivationAnswer', whole({ activation: activationShape }));
export const activationPage = pageOf('ActivationPage', activationShape);

export const deactivateAnswer = named(
  'LicenseDeactivated',
  whole({
    status: state,
    released: joi.boolean().description('Also on a repeat; false says why in `reason`'),
    activation: activationShape.allow(null),
  }).keys({
    reason: joi
      .string()
      .valid(...REJECTION_REASONS)
      .description('With `released` false; `file_until`: a `.lic` is good until the `file_until` of the activation'),
  }),
);

const publicKeyJson = named(
  'LicensePublicKey',
  whole({
    algorithm: joi.string().valid('ed25519', 'rsa-sha256'),
    kid: text.description('First 16 hex characters of SHA-256 over the SPKI DER'),
    public_key: text.description('SPKI, PEM'),
    predecessors: joi
      .array()
      .items(whole({ kid: text, algorithm: text, public_key: text, signature: text }))
      .description('Newest first; each `signature` is by that key over its successor’s SPKI DER'),
  }),
);

export const pubkeyQuery = joi.object({
  format: joi.string().valid('json', 'pem').default('json').description('`pem`: the key alone'),
});
export const pubkeyAnswer = joi.alternatives(
  publicKeyJson,
  stated({ contentMediaType: 'application/x-pem-file' }, joi.string()),
);

const licenseShape = named(
  'License',
  whole({
    id: text,
    key: text.description('Masked, but in the answer that makes it'),
    client_ref: text.allow(null),
    product: text,
    project: text,
    licensee: text.allow(null),
    email: text.allow(null),
    status: state,
    expires_at: at.allow(null),
    max_activations: count.allow(null).description('Null: unlimited'),
    require_approval: joi.boolean(),
    features,
    notes: text.allow(null),
    cache_ttl_hours: count.description('Of the project'),
    created_at: at,
    created_by: text,
    updated_at: at,
    last_validated_at: at.allow(null),
    last_validated_version: text.allow(null, ''),
  }),
);
export const licenseAnswer = named('LicenseAnswerOne', whole({ license: licenseShape }));
const made = { license: licenseShape, key: text.description('The whole key; it is shown here alone') };
export const createdAnswer = named('LicenseMade', whole(made));
export const createdManyAnswer = named(
  'LicensesMade',
  joi.object({
    license: licenseShape,
    key: text,
    items: joi.array().items(whole(made)).description('With `count`'),
  }),
);
export const licensePage = pageOf('LicensePage', licenseShape);

const id = joi.string().max(64).required();
export const licenseParams = joi.object({ id });
export const activationParams = joi.object({ id, aid: joi.string().max(64).required() });
export const refParams = joi.object({ product: productField.required(), client_ref: joi.string().max(128).required() });

const listQuery = {
  limit: joi.number().integer().min(1).max(200).default(50),
  cursor: joi.string().max(4096),
  include_total: joi.boolean().default(false),
};
export const filters = {
  q: joi.string().max(200).allow('').description('Licensee, e-mail address, or the last group of the key'),
  status: joi.string().valid(...STATES),
  product: productField,
  client_ref: joi.string().max(128),
  key_sha256: keyHash.description('Finds one license by its key, which itself never stands in an address'),
};
export const licensesQuery = joi.object({ ...listQuery, ...filters });
export const csvQuery = joi.object(filters);
export const activationsQuery = joi.object({ ...listQuery, status: joi.string().valid(...ACTIVATION_STATES) });

export const reasonBody = named(
  'LicenseReason',
  joi.object({ reason: optionalLine(500).description('For the audit log') }),
);
export const deactivationBody = named(
  'LicenseSwitch',
  joi.object({ reason: optionalLine(500).description('For the audit log'), permanent: joi.boolean() }),
);
export const extendBody = named(
  'LicenseExtension',
  joi
    .object({ expires_at: timestamp.allow(null).required().description('Absolute; null: it does not end') })
    .example({ expires_at: '2027-12-31T23:59:59Z' }),
);
export const extendRefBody = named(
  'ShopExtension',
  joi
    .object({ expires_at: timestamp.required().description('Absolute; one that is not later changes nothing') })
    .example({ expires_at: '2027-12-31T23:59:59Z' }),
);
