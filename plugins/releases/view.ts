import joi from 'joi';
import { withSchemaName, whole } from '../../kernel/contract/index.js';
import { buildPackageUrl } from './update-check/release-json.js';
import type { ReleaseDoc } from './model.js';
import { PLATFORMS } from '../../lib/formats/platform.js';

const timestampSchema = joi.string().isoDate();

export const platformSchema = withSchemaName('Platform', joi.string().valid(...PLATFORMS));
export const runtimeSchema = withSchemaName('Runtime', whole({ name: joi.string(), version: joi.string() }));

export const releaseSchema = withSchemaName(
  'Release',
  whole({
    id: joi.string(),
    product: joi.string(),
    channel: joi.string(),
    version: joi.string().description('As it was first published'),
    platform: platformSchema,
    build: joi.string().allow(null).description('Name accepted in `resolved_in_build`'),
    mandatory: joi.boolean(),
    rollout_percent: joi.number().integer().min(0).max(100),
    min_version: joi.string().allow(null).description('Only installations of this version or later are offered it'),
    release_notes: joi.string().allow(null, ''),
    published_at: timestampSchema,
    published_by: joi.string(),
    package_url: joi.string().description('Relative to {base_url}'),
    package_size: joi.number().integer().description('Bytes'),
    package_sha256: joi.string(),
    manifest_sha256: joi.string(),
    manifest_files: joi.number().integer().description('Files in the package'),
    signed: joi.boolean(),
    key_id: joi.string().allow(null),
    entry: joi.string().allow(null),
    runtime: runtimeSchema.allow(null),
    has_setup: joi.boolean().description('The package contains a `setup.json`'),
    withdrawn_at: timestampSchema.allow(null),
    withdrawn_reason: joi.string().allow(null),
    rolled_back: joi.boolean().description('Withdrawn by a rollback to an earlier version'),
    halted_at: timestampSchema.allow(null).description('When the rollout was halted'),
    halted_reason: joi.string().allow(null),
    downloads: joi
      .number()
      .integer()
      .description('Complete downloads from this service; those from a web server in front of it are not counted'),
    created_at: timestampSchema,
    updated_at: timestampSchema,
  }),
);

export interface ReleaseView extends Pick<
  ReleaseDoc,
  | 'id'
  | 'product'
  | 'channel'
  | 'version'
  | 'platform'
  | 'build'
  | 'mandatory'
  | 'rollout_percent'
  | 'min_version'
  | 'release_notes'
  | 'published_at'
  | 'published_by'
  | 'package_size'
  | 'package_sha256'
  | 'manifest_sha256'
  | 'key_id'
  | 'entry'
  | 'runtime'
  | 'has_setup'
  | 'withdrawn_at'
  | 'withdrawn_reason'
  | 'halted_at'
  | 'halted_reason'
  | 'downloads'
  | 'created_at'
  | 'updated_at'
> {
  package_url: string;
  rolled_back: boolean;
  manifest_files: number;
  signed: boolean;
}

export function toReleaseView(doc: ReleaseDoc): ReleaseView {
  const { id, product, channel, version, platform, build, mandatory, rollout_percent, min_version } = doc;
  const { release_notes, published_at, published_by, package_size, package_sha256, manifest_sha256, key_id } = doc;
  const { entry, runtime, has_setup, withdrawn_at, withdrawn_reason, halted_at, halted_reason, downloads } = doc;
  const name = { id, product, channel, version, platform, build, mandatory, rollout_percent, min_version };
  const published = { release_notes, published_at, published_by, package_url: buildPackageUrl(doc) };
  const file = { package_size, package_sha256, manifest_sha256, manifest_files: doc.file_count };
  const rolled_back = doc.rolled_back !== undefined;
  const state = { withdrawn_at, withdrawn_reason, rolled_back, halted_at, halted_reason, downloads };
  const signed = doc.manifest_signature !== null;
  const { created_at, updated_at } = doc;
  return {
    ...name,
    ...published,
    ...file,
    signed,
    key_id,
    entry,
    runtime,
    has_setup,
    ...state,
    created_at,
    updated_at,
  };
}
