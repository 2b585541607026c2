import joi from 'joi';
import { withSchemaName, createPageSchema, withJsonSchema, whole } from '../../../kernel/contract/index.js';
import { PLATFORMS } from '../../../lib/formats/platform.js';
import { MAX_QUERY_VERSION_LENGTH } from '../release-place.js';
import { platformSchema, releaseSchema } from '../view.js';

const VERSION_PATTERN = String.raw`^\d+(\.\d+){0,5}(-[0-9A-Za-z.-]{1,40})?(\+[0-9A-Za-z.-]+)?$`;
const SLUG_PATTERN = '^[a-z0-9][a-z0-9._-]{0,63}$';
const timestampSchema = joi.string().isoDate();

/** A malformed version is 422 on every route (contract 40, versions). */
export const versionText = withJsonSchema(
  { pattern: VERSION_PATTERN },
  joi
    .string()
    .allow('')
    .max(MAX_QUERY_VERSION_LENGTH * 4),
);
export const platformText = withJsonSchema({ enum: [...PLATFORMS] }, joi.string().allow('').max(200));
export const slugText = withJsonSchema({ pattern: SLUG_PATTERN }, joi.string().max(64));

export const product = slugText.required().description('The project’s slug');
export const channel = slugText.default('stable').description('Release channel');

const manifestFields = {
  manifest_json: joi
    .string()
    .allow(null)
    .description('The manifest, whose UTF-8 bytes are signed. Null if it has more than 256 KiB: see `manifest_url`'),
  manifest_url: joi
    .string()
    .allow(null)
    .description('File of a long manifest, relative to {base_url}; requires the credentials of the package'),
  manifest_sha256: joi.string().description('SHA-256 of the bytes of the manifest'),
  manifest_signature: joi
    .string()
    .allow(null)
    .description('Base64, RSASSA-PKCS1-v1_5 with SHA-256 of those bytes; null if unsigned'),
  key_id: joi.string().allow(null).description('ID of the signing key, see `/pubkey`'),
};

export const offeredRelease = withSchemaName(
  'OfferedRelease',
  whole({
    version: joi.string(),
    channel: joi.string(),
    platform: platformSchema,
    published_at: timestampSchema,
    release_notes: joi.string().allow(null, ''),
    mandatory: joi
      .boolean()
      .description('This release, or one between the requested version and this one, is mandatory'),
    package_url: joi.string().description('Relative to {base_url}'),
    files_url: joi
      .string()
      .description(
        'Base path of the files of the manifest by SHA-256, relative to {base_url}; requires the same credentials',
      ),
    package_size: joi.number().integer().description('Bytes'),
    package_sha256: joi.string(),
    min_version: joi.string().allow(null),
    signed: joi.boolean(),
    ...manifestFields,
  }),
);

export const checkAnswer = withSchemaName(
  'UpdateCheck',
  whole({
    update_available: joi.boolean(),
    require_signed: joi.boolean().description('The project requires signed releases'),
    product: joi.string(),
    channel: joi.string(),
    platform: platformSchema,
    current_version: joi.string(),
    latest_version: joi.string().allow(null).description('The newest version available to this machine, or null'),
    current_withdrawn: joi.boolean().description('The requested version was withdrawn'),
    signed: joi.boolean(),
    release: offeredRelease.allow(null).description('Null if up to date'),
  }),
);

export const latestAnswer = withSchemaName('LatestRelease', whole({ latest: offeredRelease.allow(null) }));

const latestEntry = withSchemaName(
  'PublishedRelease',
  whole({
    version: joi.string(),
    platform: platformSchema,
    published_at: timestampSchema,
    package_size: joi.number().integer(),
    package_sha256: joi.string(),
    signed: joi.boolean(),
    key_id: joi.string().allow(null),
    withdrawn_at: timestampSchema.allow(null),
  }),
);

export const latestDocumentShape = withSchemaName(
  'LatestDocument',
  whole({
    schema: joi.number().valid(1),
    product: joi.string(),
    channel: joi.string(),
    generated_at: timestampSchema,
    latest: joi.string().allow(null).description('The newest version offered to all machines'),
    releases: joi.array().items(latestEntry).description('All releases, newest first'),
  }),
);

export const releasePage = createPageSchema('ReleasePage', releaseSchema).keys({
  server_time: timestampSchema.description('With `updated_since`: the value for the next query'),
});

const predecessor = withSchemaName(
  'PredecessorKey',
  whole({
    key_id: joi.string(),
    public_key: joi.string(),
    signature: joi.string().description('Base64, RSA-SHA256 by this key of the SPKI DER of its successor'),
  }),
);

export const pubkeyAnswer = withSchemaName(
  'ReleaseKey',
  whole({
    algorithm: joi.string().valid('RSA-SHA256'),
    key_id: joi.string().description('First 16 hex characters of SHA-256 over the SPKI DER'),
    public_key: joi.string().description('SPKI, PEM'),
    bits: joi.number().integer(),
    predecessors: joi.array().items(predecessor).description('Newest first'),
  }),
);

export const freshnessAnswer = withSchemaName(
  'Freshness',
  whole({
    statement: joi.string().description('JSON, whose UTF-8 bytes are signed'),
    signature: joi.string().description('Base64, RSASSA-PKCS1-v1_5 with SHA-256'),
    key_id: joi.string(),
  }),
);

const closedItems = joi.array().items(joi.string()).description('Ids of the bug items that this publish closed');
const closedRefs = joi.array().items(joi.string()).description('Their refs, `shop-17`, in the same order');

export const publishAnswer = withSchemaName(
  'PublishAnswer',
  whole({
    release: releaseSchema,
    manifest_files: joi.number().integer(),
    signed: joi.boolean(),
    unchanged: joi.boolean().description('The same package was already published'),
    replaced: joi.boolean().description('A different package was already published'),
    closed_items: closedItems,
    closed_refs: closedRefs,
    warnings: joi.array().items(joi.string()),
  }),
);

export const promoteAnswer = withSchemaName(
  'PromoteAnswer',
  whole({
    release: releaseSchema.description('The first of them'),
    releases: joi.array().items(releaseSchema).description('One per platform'),
    unchanged: joi.boolean(),
    replaced: joi.boolean(),
    closed_items: closedItems,
    closed_refs: closedRefs,
  }),
);

export const withdrawAnswer = withSchemaName(
  'WithdrawAnswer',
  whole({
    release: releaseSchema.description('The first of them'),
    releases: joi.array().items(releaseSchema).description('One per platform'),
  }),
);

export const rollbackAnswer = withSchemaName(
  'RollbackAnswer',
  whole({
    release: releaseSchema.description('The first of the releases that are offered again'),
    releases: joi.array().items(releaseSchema).description('One per platform'),
    withdrawn: joi.array().items(releaseSchema).description('Later releases that this request withdrew, newest first'),
    rollback: whole({
      from: joi.string().description('Newest version that was withdrawn'),
      to: joi.string(),
      at: timestampSchema,
    })
      .allow(null)
      .description('As in the freshness statement; null if no later release exists'),
    unchanged: joi.boolean().description('The release was already the newest offered one'),
  }),
);

export const rolloutAnswer = withSchemaName('RolloutAnswer', whole({ release: releaseSchema }));

const percent = joi.number().integer().min(0).max(100);

export const requestBodies = {
  withdraw: withSchemaName(
    'Withdrawal',
    joi.object({
      product: slugText.required(),
      version: versionText.required(),
      channel: slugText.default('stable'),
      platform: platformText.allow(null).description('Default: all platforms of the version'),
      reason: joi.string().allow('', null).max(1_000).description('For people'),
    }),
  ),
  promote: withSchemaName(
    'Promotion',
    joi.object({
      product: slugText.required(),
      version: versionText.required(),
      from: slugText.required().description('Channel'),
      to: slugText.required().description('Channel'),
      platform: platformText.allow(null).description('Default: all platforms of the version'),
      rollout_percent: percent.description('Default: 100'),
    }),
  ),
  rollback: withSchemaName(
    'Rollback',
    joi.object({
      product: slugText.required(),
      channel: slugText.default('stable'),
      platform: platformText.allow(null).description('Default: all platforms'),
      to: versionText.required().description('Version that is offered as the newest again'),
      reason: joi.string().allow('', null).max(1_000).description('Shown with the withdrawn releases'),
    }),
  ),
  rollout: withSchemaName(
    'Rollout',
    joi.object({
      product: slugText.required(),
      version: versionText.required(),
      channel: slugText.default('stable'),
      platform: platformText.default('any'),
      rollout_percent: percent.required().description('0 to 100; setting it resumes a halted rollout'),
    }),
  ),
};

export const publishQuery = joi.object({
  product,
  version: versionText.required(),
  channel,
  platform: platformText.default('any').description('Runtime identifier'),
  build: joi
    .string()
    .max(200)
    .description('Name of the build, which can be used in `resolved_in_build` instead of the version'),
  mandatory: joi.boolean().default(false),
  rollout_percent: percent.description('Percentage of machines that are offered it; default 100'),
  min_version: versionText.description('Only installations of this version or later are offered it'),
});
