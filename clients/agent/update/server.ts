/**
 * Responses are validated field by field (contract 40); contradictions are exit 3. A response
 * without our JSON comes from another server and is exit 8.
 */
import { compareVersions, isVersion } from '../../../lib/versions.js';
import { MAX_MANIFEST_BYTES } from '../../../lib/formats/manifest.js';
import { isPackageUrl } from '../../../lib/formats/platform.js';
import { AgentFailure } from '../exit.js';
import { resolveServerPath } from '../options/address.js';
import { getErrorText, type JsonAnswer } from '../net/http.js';
import type { Network } from '../net/network.js';
import { parseOfferedKey, type OfferedKey } from '../trust/keys.js';
import type { SignedStatement } from '../trust/release-verification.js';

const MAX_KEY_BYTES = 4 * 1024 * 1024;
const MAX_STATEMENT_BYTES = 4 * 1024 * 1024;
/** The manifest is JSON within JSON, whose quotes and non-ASCII letters take more space. */
const MAX_CHECK_BYTES = 2 * MAX_MANIFEST_BYTES;
const API_PREFIX = '/api/updateservice/v1';

export interface UpdateQuery {
  product: string;
  version: string;
  channel: string;
  platform: string;
  instance: string;
}

export interface OfferedRelease {
  version: string;
  platform: string;
  mandatory: boolean;
  notes: string | null;
  packageUrl: string;
  /** Below it each file by its hash; null for a server without single files. */
  filesUrl: string | null;
  packageSize: number;
  packageSha256: string;
  manifest: Buffer | ManifestPlace;
  signature: string | null;
  keyId: string | null;
}

/** Below the server's URL, read with the package's credentials (contract 40, asking). */
export interface ManifestPlace {
  path: string;
  sha256: string;
}

export interface UpdateCheckResult {
  requireSigned: boolean;
  currentWithdrawn: boolean;
  latestVersion: string | null;
  offered: OfferedRelease | null;
}

export class UpdateServiceClient {
  constructor(
    private readonly network: Network,
    readonly address: URL,
  ) {}

  async fetchPublicKey(): Promise<OfferedKey | null> {
    const answer = await this.#getJson('pubkey', {}, MAX_KEY_BYTES);
    return answer.status === 404 ? null : parseOfferedKey(answer.body);
  }

  async check(question: UpdateQuery): Promise<UpdateCheckResult> {
    const { instance, ...rest } = question;
    const answer = await this.#getJson('check', { ...rest, instance_id: instance }, MAX_CHECK_BYTES);
    if (answer.status === 404)
      throw new AgentFailure('error', getErrorText(answer.body) ?? `the server has no product ${question.product}`);
    return parseCheck(answer.body, question);
  }

  /** Returns the newest release for everyone, whatever it requires to be installed before it. */
  async fetchLatest(question: UpdateQuery): Promise<OfferedRelease | null> {
    const { product, channel, platform } = question;
    const answer = await this.#getJson('latest', { product, channel, platform }, MAX_CHECK_BYTES);
    const release = answer.status === 404 ? null : (answer.body['latest'] ?? null);
    return release === null ? null : parseOffered(release, question);
  }

  async fetchFreshness(product: string, channel: string): Promise<SignedStatement | null> {
    const answer = await this.#getJson('freshness', { product, channel }, MAX_STATEMENT_BYTES);
    const { statement, signature } = answer.body;
    return answer.status === 404 || typeof statement !== 'string' || typeof signature !== 'string'
      ? null
      : { statement, signature };
  }

  async #getJson(
    route: string,
    query: Record<string, string>,
    most: number,
  ): Promise<JsonAnswer & { body: Record<string, unknown> }> {
    const url = resolveServerPath(this.address, `${API_PREFIX}/${route}`);
    url.search = new URLSearchParams(query).toString();
    const { status, body } = await this.network.getJson(url, most);
    const ours = body?.status === (status < 400 ? 'success' : 'error') && (status < 300 || status >= 400);
    if (body === null || !ours)
      throw new AgentFailure(
        'transient',
        `${url.origin} answered ${url.pathname} with ${status}, but not as an AOS service`,
      );
    if (status >= 400 && status !== 404)
      throw new AgentFailure('error', getErrorText(body) ?? `${url.pathname} answered ${status}`);
    return { status, body };
  }
}

const createInvalidResponseFailure = (field: string, why: string): AgentFailure =>
  new AgentFailure('unverified', `server response: ${field} ${why}`);

function parseCheck(body: Readonly<Record<string, unknown>>, question: UpdateQuery): UpdateCheckResult {
  for (const field of ['product', 'channel', 'platform'] as const)
    if (body[field] !== undefined && body[field] !== question[field])
      throw createInvalidResponseFailure(field, 'does not match the request');
  if (typeof body.update_available !== 'boolean')
    throw createInvalidResponseFailure('update_available', 'is not a boolean');
  const release = body.release ?? null;
  if (body.update_available !== (release !== null))
    throw createInvalidResponseFailure('update_available', 'contradicts release');
  const latest = body.latest_version ?? null;
  if (latest !== null && (typeof latest !== 'string' || !isVersion(latest)))
    throw createInvalidResponseFailure('latest_version', 'is not a version');
  const offered = release === null ? null : parseOffered(release, question);
  if (body.signed === true && offered !== null && offered.signature === null)
    throw createInvalidResponseFailure('manifest_signature', 'is missing, but signed is true');
  return {
    requireSigned: parseFlag(body, 'require_signed'),
    currentWithdrawn: parseFlag(body, 'current_withdrawn'),
    latestVersion: latest,
    offered,
  };
}

/** Absent counts as false, because older servers do not send it. */
function parseFlag(body: Readonly<Record<string, unknown>>, field: string): boolean {
  const value = body[field] ?? false;
  if (typeof value !== 'boolean') throw createInvalidResponseFailure(field, 'is not a boolean');
  return value;
}

const isSha256 = (hash: string): boolean => /^[0-9a-f]{64}$/.test(hash);

function parseOffered(value: unknown, question: UpdateQuery): OfferedRelease {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw createInvalidResponseFailure('release', 'is not an object');
  const it = value as Readonly<Record<string, unknown>>;
  const text = (field: string, fits: (text: string) => boolean, why: string): string => {
    const found = it[field];
    if (typeof found !== 'string' || !fits(found)) throw createInvalidResponseFailure(`release.${field}`, why);
    return found;
  };
  const size = it.package_size;
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size <= 0)
    throw createInvalidResponseFailure('release.package_size', 'is not a number of bytes');
  const offered: OfferedRelease = {
    version: text('version', isVersion, 'is not a version'),
    platform: text('platform', (p) => p === question.platform || p === 'any', 'does not match the request'),
    mandatory: it.mandatory === true,
    notes: typeof it.release_notes === 'string' ? it.release_notes : null,
    packageUrl: text('package_url', isPackageUrl, 'is not below /releases/'),
    filesUrl: (it.files_url ?? null) === null ? null : text('files_url', isPackageUrl, 'is not below /releases/'),
    packageSize: size,
    packageSha256: text('package_sha256', isSha256, 'is not a SHA-256'),
    manifest:
      (it.manifest_json ?? null) === null && (it.manifest_url ?? null) !== null
        ? {
            path: text('manifest_url', isPackageUrl, 'is not below /releases/'),
            sha256: text('manifest_sha256', isSha256, 'is not a SHA-256'),
          }
        : Buffer.from(
            text('manifest_json', (json) => json !== '', 'is empty'),
            'utf8',
          ),
    signature:
      (it.manifest_signature ?? null) === null ? null : text('manifest_signature', () => true, 'is not a string'),
    keyId: typeof it.key_id === 'string' ? it.key_id : null,
  };
  text('channel', (channel) => channel === question.channel, 'does not match the request');
  // A lower version may be a rollback, which only the signed statement can permit.
  if (compareVersions(offered.version, question.version) === 0)
    throw createInvalidResponseFailure(
      'release.version',
      `${offered.version} is not newer than the installed ${question.version}`,
    );
  return offered;
}
