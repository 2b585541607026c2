/**
 * Stages the upload, verifies the announced checksum, validates and describes it (contract 40,
 * publishing). A rejected package leaves nothing behind.
 */
import joi from 'joi';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import { normalizeGlob, findUnsupportedGlob } from '../../../lib/formats/globs.js';
import { listUnknownFields, type DescribedFields } from '../../../lib/unknown-fields.js';
import { findLiveTokenFields, type LiveTokenDetector } from '../../../ports/domain/live-tokens.js';
import type { UploadedBody } from '../../../ports/http/index.js';
import {
  PackageRejected,
  PackageTooLarge,
  DiskFull,
  type StagedPackage,
  type ReleaseStore,
} from '../../../ports/release-store.js';
import { MIN_FREE_BYTES } from '../config.js';
import { DEPS } from '../deps.js';
import { createReleaseError } from '../errors.js';
import type { Platform } from '../../../lib/formats/platform.js';
import type { PackageRuntime } from '../../../lib/formats/manifest.js';
import type { PackageFacts } from './publisher.js';

export const MAX_NOTES_BYTES = 64 * 1024;
const SHA256_PATTERN = /^[0-9a-f]{64}$/i;
const BASE64_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/;

export interface PackageMeta {
  preserve_patterns: string[];
  entry: string | null;
  runtime: PackageRuntime | null;
}

const metaSchema = joi.object({
  preserve_patterns: joi
    .array()
    .max(1_000)
    .items(joi.string().custom((glob: string) => checkGlob(glob)))
    .default([]),
  entry: joi.string().max(2_048).allow(null).default(null),
  runtime: joi.object({ name: createNameSchema(), version: createNameSchema() }).allow(null).default(null),
});

const META_DESCRIPTION = joi.object({ meta: metaSchema }).describe() as DescribedFields;
const STRICT_VALIDATION: joi.ValidationOptions = {
  stripUnknown: true,
  convert: false,
  errors: { label: false, wrap: { array: false, string: false } },
};

function createNameSchema(): joi.StringSchema {
  return joi
    .string()
    .max(200)
    .pattern(/^[\w.@+-]+$/, 'name')
    .required();
}

function checkGlob(glob: string): string {
  const why = findUnsupportedGlob(glob);
  if (why !== null) throw new Error(why);
  return normalizeGlob(glob);
}

export interface DeclaredPackage {
  sha256: string | undefined;
  notes: string | undefined;
  meta: string | undefined;
}

@injectable()
export class PackageReceiver {
  constructor(
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.liveTokens) private readonly liveTokens: LiveTokenDetector,
    @inject(DEPS.short) private readonly short: () => boolean,
    @inject(DEPS.packageBytes) private readonly packageBytes: number,
  ) {}

  /**
   * @throws ServiceError payload_too_large, insufficient_storage, checksum_mismatch, and errors of
   *   the body
   */
  async stage(body: UploadedBody, announced: string | undefined): Promise<StagedPackage> {
    const { store, packageBytes, short } = this;
    if (announced !== undefined && !SHA256_PATTERN.test(announced)) {
      throw invalid({ 'x-package-sha256': 'must be 64 hexadecimal characters' });
    }
    if (short()) throw createStorageFullError();
    const staged = await mapPackageErrors(() =>
      store.packages.stage(body.content, { bytes: packageBytes, keepFree: MIN_FREE_BYTES }),
    );
    if (announced !== undefined && announced.toLowerCase() !== staged.sha256) {
      await store.packages.discard(staged.id);
      throw createReleaseError(
        'checksum_mismatch',
        `The received package has the SHA-256 ${staged.sha256}, but ${announced.toLowerCase()} was announced.`,
      );
    }
    return staged;
  }

  /**
   * Undefined when none were sent.
   * @throws ServiceError validation_failed
   */
  async parseNotes(headers: DeclaredPackage, fields: Readonly<Record<string, string>>): Promise<string | undefined> {
    const notes =
      fields['notes'] ?? (headers.notes === undefined ? undefined : decodeBase64(headers.notes, 'x-release-notes'));
    if (notes === undefined) return undefined;
    if (Buffer.byteLength(notes) > MAX_NOTES_BYTES)
      throw invalid({ notes: `must be at most ${MAX_NOTES_BYTES} bytes` });
    const published = await findLiveTokenFields(this.liveTokens, { notes });
    if (Object.keys(published).length > 0) throw invalid(published);
    return notes;
  }

  /**
   * Warns about unknown names.
   * @throws ServiceError validation_failed
   */
  parseMeta(
    headers: DeclaredPackage,
    fields: Readonly<Record<string, string>>,
  ): { meta: PackageMeta; warnings: string[] } {
    const field = fields['meta'] === undefined ? 'x-package-meta' : 'meta';
    const text = fields['meta'] ?? (headers.meta === undefined ? '{}' : decodeBase64(headers.meta, field));
    const given = parseJson(text, field);
    const { value, error } = metaSchema.validate(given, STRICT_VALIDATION);
    if (error === undefined)
      return { meta: value as PackageMeta, warnings: listUnknownFields(META_DESCRIPTION, { meta: given }) };
    const [detail] = error.details;
    throw invalid({ [[field, ...(detail?.path ?? [])].join('.')]: detail?.message ?? 'is wrong' });
  }

  /**
   * @throws ServiceError package_rejected; validation_failed for an entry missing from the package
   */
  async read(
    staged: StagedPackage,
    platform: Platform,
    meta: PackageMeta,
  ): Promise<{ facts: Omit<PackageFacts, 'notes'>; warnings: string[] }> {
    const contents = await mapPackageErrors(() =>
      this.store.packages.inspect(staged.id, { platform, entry: meta.entry }),
    );
    if (meta.entry !== null && !contents.files.some(({ path }) => path === meta.entry)) {
      throw invalid({ 'meta.entry': 'must be the path of a file in the package' });
    }
    const setup = readSetup(contents.setup);
    return {
      facts: { ...meta, size: staged.size, sha256: staged.sha256, files: contents.files, setup },
      warnings:
        contents.setup !== null && setup === null
          ? ['setup.json is not a JSON object: an installer cannot prompt for its values.']
          : [],
    };
  }
}

async function mapPackageErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PackageTooLarge)
      throw new ServiceError('payload_too_large', 'The package is larger than the limit.');
    if (error instanceof DiskFull) throw createStorageFullError();
    if (error instanceof PackageRejected) {
      const { entry } = error;
      const message = entry === '' ? error.message : `The package was rejected: ${error.message}.`;
      throw createReleaseError('package_rejected', message, {
        fields: { package: error.message },
        extra: { entry: entry === '' ? null : entry },
      });
    }
    throw error;
  }
}

const createStorageFullError = (): ServiceError =>
  new ServiceError('insufficient_storage', 'The disk of the release store has no space for this package.');

function decodeBase64(text: string, field: string): string {
  const bytes = Buffer.from(text, 'base64');
  if (!BASE64_PATTERN.test(text) || text.length % 4 !== 0) throw invalid({ [field]: 'must be base64' });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid({ [field]: 'must be base64 of UTF-8' });
  }
}

function parseJson(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ [field]: 'must be JSON' });
  }
}

function readSetup(text: string | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
