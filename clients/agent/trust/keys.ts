/**
 * The first key is pinned (contract 90, freshness and key pinning: key pinning); another is
 * accepted only through a chain that begins with the pinned one.
 */
import { KeyRefused } from '../../../lib/formats/public-key.js';
import {
  hasTrustedChain,
  isSignedBy,
  parsePublicKey,
  type Predecessor,
  type VerifyingKey,
} from '../../../lib/formats/signature.js';
import { AgentFailure } from '../exit.js';
import type { TrustState } from './state.js';

export interface OfferedKey {
  key: VerifyingKey;
  predecessors: Predecessor[];
}

export interface KeyDecision {
  /**
   * Null when the server does not sign and no key is pinned, or pinning is skipped for this run.
   */
  key: VerifyingKey | null;
  state: TrustState;
}

const createUnverifiedFailure = (why: string): AgentFailure => new AgentFailure('unverified', why);

/** @throws AgentFailure exit 3 for a response without an RSA key of 2048 bits or more */
export function parseOfferedKey(body: Readonly<Record<string, unknown>>): OfferedKey {
  const { public_key: pem, predecessors = [] } = body;
  if (typeof pem !== 'string' || !Array.isArray(predecessors))
    throw createUnverifiedFailure('the server’s public key cannot be read');
  const chain = predecessors.map((entry: unknown): Predecessor => {
    const { public_key, signature } = (entry ?? {}) as Partial<Record<keyof Predecessor, unknown>>;
    if (typeof public_key !== 'string' || typeof signature !== 'string')
      throw createUnverifiedFailure('the predecessors of the server’s public key cannot be read');
    return { public_key, signature };
  });
  return { key: importReleaseKey(pem), predecessors: chain };
}

export function importReleaseKey(pem: string): VerifyingKey {
  try {
    const key = parsePublicKey(pem);
    if (key.algorithm !== 'rsa-sha256') throw createUnverifiedFailure('the server’s public key is not an RSA key');
    return key;
  } catch (error) {
    if (error instanceof KeyRefused) throw createUnverifiedFailure(`the server’s public key ${error.message}`);
    throw error;
  }
}

export interface KeyRules {
  state: TrustState;
  pin: string | null;
  allowUnsigned: boolean;
  /** Version to which the highest-version mark is reset with a new key. */
  installed: string | null;
}

/** @param offered null when the server has no key */
export function selectKey(offered: OfferedKey | null, rules: KeyRules): KeyDecision {
  const { state, pin, allowUnsigned } = rules;
  const trusted = pin ?? state.pin?.sha256 ?? null;
  if (offered === null) {
    if (trusted !== null && !allowUnsigned)
      throw createUnverifiedFailure(
        'a key is pinned, but the server reports that it has no key (use --allow-unsigned to allow this for one run)',
      );
    return { key: null, state };
  }
  const { key, predecessors } = offered;
  const former = pin === null ? state.former_keys : state.former_keys.filter((hash) => hash !== pin);
  if (former.includes(key.spkiSha256))
    throw createUnverifiedFailure(`the server’s key ${key.keyId} was already replaced by a newer one`);
  if (trusted === null || trusted === key.spkiSha256)
    return { key, state: buildPinnedState(state, key, former, pin !== null, rules) };
  if (!hasTrustedChain(trusted, key, predecessors))
    throw createUnverifiedFailure(
      `the server’s key ${key.keyId} is not the pinned key, and no key chain endorses it (use --pin ${key.spkiSha256} to trust it)`,
    );
  const passed = listKeysUpTo(trusted, predecessors);
  if (passed.some((hash) => former.includes(hash)))
    throw createUnverifiedFailure('the server’s key descends from a key that was already replaced');
  const next = buildPinnedState(state, key, [...former, ...passed], false, rules);
  return { key, state: { ...next, highest_version: rules.installed } };
}

function buildPinnedState(
  state: TrustState,
  key: VerifyingKey,
  former: string[],
  byHand: boolean,
  { installed }: KeyRules,
): TrustState {
  const replaced = byHand && state.pin !== null && state.pin.sha256 !== key.spkiSha256;
  return {
    ...state,
    pin: { sha256: key.spkiSha256, spki: key.spki.toString('base64') },
    former_keys: [...new Set(former)],
    highest_version: replaced ? installed : state.highest_version,
  };
}

function listKeysUpTo(pin: string, predecessors: readonly Predecessor[]): string[] {
  const hashes: string[] = [];
  for (const { public_key } of predecessors) {
    hashes.push(parsePublicKey(public_key).spkiSha256);
    if (hashes.at(-1) === pin) break;
  }
  return hashes;
}

export interface SignatureRules {
  key: VerifyingKey | null;
  pinned: boolean;
  /** `--require-signed`, the project's setting, or a remembered requirement. */
  required: boolean;
  allowUnsigned: boolean;
}

/** Verifies the signature of a manifest's exact bytes. */
export function verifySignature(bytes: Uint8Array, signature: string | null, rules: SignatureRules): string | null {
  const { key, pinned, required, allowUnsigned } = rules;
  if (signature === null) {
    if (!required && !pinned) return 'the release is not signed';
    if (allowUnsigned) return 'the release is not signed; --allow-unsigned allows this for one run';
    const why = required ? 'signed releases are required' : 'a key is pinned';
    throw createUnverifiedFailure(
      `the release is not signed, and ${why} (use --allow-unsigned to allow this for one run)`,
    );
  }
  if (key === null) throw createUnverifiedFailure('the release is signed, but there is no key to verify it with');
  if (!isSignedBy(key, bytes, signature)) throw createUnverifiedFailure('the signature of the release is not valid');
  return null;
}
