/**
 * Client of the update service (contract 40). Responses are validated field by field;
 * contradictions are exit 3. A response without our JSON comes from another server and is exit 8.
 */
import { compareVersions, isVersion } from '../../../lib/versions.js';
import { MAX_MANIFEST_BYTES } from '../../../lib/formats/manifest.js';
import { isPackageUrl } from '../../../lib/formats/platform.js';
import { AgentFailure } from '../exit.js';
import { below } from '../options/address.js';
import { errorText, type JsonAnswer } from '../net/http.js';
import type { Network } from '../net/network.js';
import { readOfferedKey, type OfferedKey } from '../trust/keys.js';
import type { SignedStatement } from '../trust/verified.js';

const KEY_BYTES = 4 * 1024 * 1024;
const STATEMENT_BYTES = 4 * 1024 * 1024;
/** The manifest is JSON within JSON, whose quotes and non-ASCII letters take more space. */
const CHECK_BYTES = 2 * MAX_MANIFEST_BYTES;
const PREFIX = '/api/updateservice/v1';

export interface UpdateQuestion {
  product: string;
  version: string;
  channel: string;
  platform: string;
  instance: string;
}

export interface Offered {
  version: string;
  platform: string;
  mandatory: boolean;
  notes: string | null;
  packageUrl: string;
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

export interface CheckAnswer {
  requireSigned: boolean;
  currentWithdrawn: boolean;
  latestVersion: string | null;
  offered: Offered | null;
}

export class UpdateServer {
  constructor(
    private readonly network: Network,
    readonly address: URL,
  ) {}

  async publicKey(): Promise<OfferedKey | null> {
    const answer = await this.#ask('pubkey', {}, KEY_BYTES);
    return answer.status === 404 ? null : readOfferedKey(answer.body);
  }

  async check(question: UpdateQuestion): Promise<CheckAnswer> {
    const { instance, ...rest } = question;
    const answer = await this.#ask('check', { ...rest, instance_id: instance }, CHECK_BYTES);
    if (answer.status === 404)
      throw new AgentFailure('error', errorText(answer.body) ?? `the server has no product ${question.product}`);
    return readCheck(answer.body, question);
  }

  /** Returns the newest release for everyone, whatever it requires to be installed before it. */
  async latest(question: UpdateQuestion): Promise<Offered | null> {
    const { product, channel, platform } = question;
    const answer = await this.#ask('latest', { product, channel, platform }, CHECK_BYTES);
    const release = answer.status === 404 ? null : (answer.body['latest'] ?? null);
    return release === null ? null : readOffered(release, question);
  }

  async freshness(product: string, channel: string): Promise<SignedStatement | null> {
    const answer = await this.#ask('freshness', { product, channel }, STATEMENT_BYTES);
    const { statement, signature } = answer.body;
    return answer.status === 404 || typeof statement !== 'string' || typeof signature !== 'string'
      ? null
      : { statement, signature };
  }

  async #ask(
    route: string,
    query: Record<string, string>,
    most: number,
  ): Promise<JsonAnswer & { body: Record<string, unknown> }> {
    const url = below(this.address, `${PREFIX}/${route}`);
    url.search = new URLSearchParams(query).toString();
    const { status, body } = await this.network.ask(url, most);
    const ours = body?.status === (status < 400 ? 'success' : 'error') && (status < 300 || status >= 400);
    if (body === null || !ours)
      throw new AgentFailure(
        'transient',
        `${url.origin} answers ${url.pathname} with ${status} and nothing of this service`,
      );
    if (status >= 400 && status !== 404)
      throw new AgentFailure('error', errorText(body) ?? `${url.pathname} answers ${status}`);
    return { status, body };
  }
}

const lie = (field: string, why: string): AgentFailure =>
  new AgentFailure('unverified', `the server’s answer: ${field} ${why}`);

function readCheck(body: Readonly<Record<string, unknown>>, question: UpdateQuestion): CheckAnswer {
  for (const field of ['product', 'channel', 'platform'] as const)
    if (body[field] !== undefined && body[field] !== question[field])
      throw lie(field, 'is not the one that was asked for');
  if (typeof body.update_available !== 'boolean') throw lie('update_available', 'is no boolean');
  const release = body.release ?? null;
  if (body.update_available !== (release !== null)) throw lie('update_available', 'contradicts release');
  const latest = body.latest_version ?? null;
  if (latest !== null && (typeof latest !== 'string' || !isVersion(latest)))
    throw lie('latest_version', 'is no version');
  const offered = release === null ? null : readOffered(release, question);
  if (body.signed === true && offered !== null && offered.signature === null)
    throw lie('manifest_signature', 'is missing, and signed is true');
  return {
    requireSigned: flag(body, 'require_signed'),
    currentWithdrawn: flag(body, 'current_withdrawn'),
    latestVersion: latest,
    offered,
  };
}

/** Absent counts as false, because older servers do not send it. */
function flag(body: Readonly<Record<string, unknown>>, field: string): boolean {
  const value = body[field] ?? false;
  if (typeof value !== 'boolean') throw lie(field, 'is no boolean');
  return value;
}

const isSha256 = (hash: string): boolean => /^[0-9a-f]{64}$/.test(hash);

function readOffered(value: unknown, question: UpdateQuestion): Offered {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw lie('release', 'is no object');
  const it = value as Readonly<Record<string, unknown>>;
  const text = (field: string, fits: (text: string) => boolean, why: string): string => {
    const found = it[field];
    if (typeof found !== 'string' || !fits(found)) throw lie(`release.${field}`, why);
    return found;
  };
  const size = it.package_size;
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size <= 0)
    throw lie('release.package_size', 'is no number of bytes');
  const offered: Offered = {
    version: text('version', isVersion, 'is no version'),
    platform: text('platform', (p) => p === question.platform || p === 'any', 'is not the one that was asked for'),
    mandatory: it.mandatory === true,
    notes: typeof it.release_notes === 'string' ? it.release_notes : null,
    packageUrl: text('package_url', isPackageUrl, 'does not lie below /releases/'),
    packageSize: size,
    packageSha256: text('package_sha256', isSha256, 'is no SHA-256'),
    manifest:
      (it.manifest_json ?? null) === null && (it.manifest_url ?? null) !== null
        ? {
            path: text('manifest_url', isPackageUrl, 'does not lie below /releases/'),
            sha256: text('manifest_sha256', isSha256, 'is no SHA-256'),
          }
        : Buffer.from(
            text('manifest_json', (json) => json !== '', 'is empty'),
            'utf8',
          ),
    signature: (it.manifest_signature ?? null) === null ? null : text('manifest_signature', () => true, 'is no text'),
    keyId: typeof it.key_id === 'string' ? it.key_id : null,
  };
  text('channel', (channel) => channel === question.channel, 'is not the one that was asked for');
  if (compareVersions(offered.version, question.version) <= 0)
    throw lie('release.version', `${offered.version} is not newer than the installed ${question.version}`);
  return offered;
}
