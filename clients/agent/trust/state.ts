/**
 * An unreadable file is exit 3 (contract 90, freshness and key pinning): starting from scratch
 * would trust any key.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isVersion } from '../../../lib/versions.js';
import { getErrorCode, AgentFailure } from '../exit.js';
import { writeFileAtomically } from '../system/files.js';

export interface PinnedKey {
  sha256: string;
  /** The whole key, base64 of the SPKI DER; null while only its hash is known from `--pin`. */
  spki: string | null;
}

export interface TrustState {
  schema: 1;
  highest_version: string | null;
  pin: PinnedKey | null;
  /** SHA-256 of the SPKI DER of earlier keys, which are rejected. */
  former_keys: string[];
  /** True once the server or the administrator required signed releases; never reset. */
  require_signed: boolean;
  statements: Record<string, string>;
  /** Random, where the system has no machine id. */
  instance: string | null;
  /**
   * Last reported warning about an unsigned server, so that idle runs do not repeat it. Absent:
   * none yet.
   */
  unsigned_said?: string | null;
  /** Version that `--action rollback` left, and to which no update returns by itself. */
  left_version?: string | null;
}

export const createState = (): TrustState => ({
  schema: 1,
  highest_version: null,
  pin: null,
  former_keys: [],
  require_signed: false,
  statements: {},
  instance: null,
});

export async function readState(path: string): Promise<TrustState> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return createState();
    throw createUnreadableFailure(path, getErrorCode(error), error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw createUnreadableFailure(path, 'it is not valid JSON', error);
  }
  if (!isTrustState(value)) throw createUnreadableFailure(path, 'its fields are not valid');
  return value;
}

export const writeState = (path: string, state: TrustState): Promise<void> =>
  writeFileAtomically(path, `${JSON.stringify(state, null, 2)}\n`);

const createUnreadableFailure = (path: string, why: string, cause?: unknown): AgentFailure =>
  new AgentFailure(
    'unverified',
    `${path} cannot be read (${why}); without it the pinned key is unknown. Restore it, or remove it and pass --pin`,
    { cause },
  );

const SHA256_PATTERN = /^[0-9a-f]{64}$/;
const isText = (value: unknown): value is string => typeof value === 'string';
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isTrustState(value: unknown): value is TrustState {
  if (!isRecord(value)) return false;
  const { schema, highest_version, pin, former_keys, require_signed, statements, instance } = value;
  const { unsigned_said, left_version } = value;
  return (
    schema === 1 &&
    (highest_version === null || (isText(highest_version) && isVersion(highest_version))) &&
    (pin === null || isPin(pin)) &&
    Array.isArray(former_keys) &&
    former_keys.every((key) => isText(key) && SHA256_PATTERN.test(key)) &&
    typeof require_signed === 'boolean' &&
    isRecord(statements) &&
    Object.values(statements).every((at) => isText(at) && !Number.isNaN(Date.parse(at))) &&
    (instance === null || isText(instance)) &&
    (left_version === undefined || left_version === null || (isText(left_version) && isVersion(left_version))) &&
    (unsigned_said === undefined || unsigned_said === null || isText(unsigned_said))
  );
}

function isPin(value: unknown): value is PinnedKey {
  if (!isRecord(value) || !isText(value.sha256) || !SHA256_PATTERN.test(value.sha256)) return false;
  if (value.spki === null) return true;
  return (
    isText(value.spki) && createHash('sha256').update(Buffer.from(value.spki, 'base64')).digest('hex') === value.sha256
  );
}
