import joi, { type CustomValidator, type ObjectSchema, type Schema } from 'joi';
import { withSchemaName } from '../../../kernel/contract/index.js';
import { cleanName } from '../../../lib/unknown-fields.js';
import { normalizeLicenseKey, isKey } from '../model/key.js';
import { keyHashSchema, productField } from '../model/fields.js';

/** Text that is not a key gets an `invalid` answer, not a validation error. */
const licenseKeySchema = joi
  .string()
  .allow('')
  .required()
  .description('In any format: it is trimmed, upper-cased and regrouped');
const lineSchema = (max: number) =>
  joi
    .string()
    .max(max)
    .pattern(/[\p{Cc}\p{Cs}]/u, { invert: true, name: 'free of control characters' });
const machineIdSchema = lineSchema(128).min(1).allow(null).description('Machine ID assigned by the application');
export const optionalLineSchema = (max: number) => lineSchema(max).allow(null, '');

const machineFields = {
  product: productField.required(),
  machine_id: machineIdSchema,
  machine_name: optionalLineSchema(200),
  app_version: optionalLineSchema(100),
  platform: optionalLineSchema(100),
  machine_unstable: joi
    .boolean()
    .description('The machine has no permanent ID, as in a container: it can only take floating seats'),
  nonce: joi
    .string()
    .max(128)
    .pattern(/\p{Cs}/u, { invert: true, name: 'without lone surrogates' })
    .allow(null, '')
    .description('Returned in the signed response, so that a replayed response is detected'),
};

export const validateBody = withSchemaName(
  'LicenseQuestion',
  joi.object({ license_key: licenseKeySchema, ...machineFields }).example({
    license_key: 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2',
    product: 'shop',
    machine_id: 'web-1',
    nonce: '4f9c2d',
  }),
);

/** Proxies, histories and bookmarks would store the key. */
const KEY_IN_URL_MESSAGE = 'must not be sent in a URL: send the key in the header X-License-Key, or its key_sha256';
const rejectKeyInUrl: CustomValidator<unknown> = (value, helpers) =>
  typeof value === 'string' && isKey(normalizeLicenseKey(value))
    ? helpers.message({ custom: KEY_IN_URL_MESSAGE })
    : value;

/** Other parameters are ignored or rejected; no value or name may be a key. */
function buildKeylessQuery(fields: Readonly<Record<string, Schema>>, unknown: 'ignored' | 'rejected'): ObjectSchema {
  const known = Object.entries(fields).map(([name, schema]) => [name, schema.custom(rejectKeyInUrl)] as const);
  return joi
    .object({
      ...Object.fromEntries(known),
      license_key: joi.forbidden().messages({ 'any.unknown': KEY_IN_URL_MESSAGE }),
    })
    .pattern(joi.string(), joi.any().custom(rejectKeyInUrl))
    .custom((query: Readonly<Record<string, unknown>>, helpers) => {
      const names = Object.keys(query);
      if (names.some((name) => isKey(normalizeLicenseKey(name))))
        return helpers.message({ custom: `a complete key ${KEY_IN_URL_MESSAGE}` });
      const other = names.find((name) => !Object.hasOwn(fields, name));
      if (other !== undefined && unknown === 'rejected')
        return helpers.message({ custom: `${cleanName(other)} is not a parameter of this path` });
      return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(fields, name)));
    });
}

export const validateQuery = buildKeylessQuery(
  { key_sha256: keyHashSchema.description('Hash of the canonical key, instead of the header'), ...machineFields },
  'ignored',
);
export const keylessQuery = buildKeylessQuery({}, 'ignored');
export const emptyQuery = buildKeylessQuery({}, 'rejected');

export const deactivateBody = withSchemaName(
  'LicenseDeactivation',
  joi
    .object({
      license_key: licenseKeySchema,
      product: productField,
      machine_id: machineIdSchema.description('Releases this machine; if omitted, the license becomes inactive'),
      reason: optionalLineSchema(500),
      permanent: joi.boolean().description('Revokes the license: this is final'),
    })
    .example({ license_key: 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2', machine_id: 'web-1' }),
);

export const fileBody = withSchemaName(
  'LicenseFileQuestion',
  joi
    .object({
      license_key: licenseKeySchema,
      product: productField.required(),
      machine_id: machineIdSchema.description('Required if the number of machines is limited'),
      machine_name: optionalLineSchema(200),
      valid_days: joi.number().integer().min(1).max(366).default(30),
    })
    .example({ license_key: 'ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2', product: 'shop', machine_id: 'web-1', valid_days: 90 }),
);

export const releaseBody = withSchemaName(
  'LeaseRelease',
  joi
    .object({ lease_id: joi.string().guid().required().description('`lease.id` returned by validate') })
    .example({ lease_id: '019ad2f0-7c1e-7b52-9a51-0f6d3a1c2b4d' }),
);
