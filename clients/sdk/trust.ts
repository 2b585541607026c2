/**
 * The chain is cached, where anyone may write, so it is verified at each read (contract 50, license
 * files; contract 90, SDK: `licensePublicKey`).
 */
import { parseKeyChain, type KeyChain } from './key-chain.js';
import type { ClientContext } from './context.js';

const PUBKEY_PATH = '/api/license/v1/pubkey';

/** A verification that may fail because of an unknown key. */
export interface Verification {
  valid: boolean;
  reason?: string;
}

/**
 * Verifies with the pinned keys, then the cached chain, then, if a request is allowed, the server's
 * chain.
 */
export async function verifyWithKeys<Result extends Verification>(
  context: ClientContext,
  verify: (pems: readonly string[]) => Promise<Result>,
  options: { online: boolean; signal?: AbortSignal | undefined },
): Promise<Result> {
  const { licenseKeys: pinned, cache } = context;
  const first = await verify(pinned);
  if (first.reason !== 'unknown_key' || pinned.length === 0) return first;
  const known = cache.read().keyChain;
  const cachedResult = await verifyWithChain(context, known, verify);
  if (cachedResult !== null) return cachedResult;
  if (!options.online) return first;
  const { status, body } = await context.ask('GET', PUBKEY_PATH, { signal: options.signal });
  const published = status === 200 ? parseKeyChain(body) : null;
  const publishedResult = await verifyWithChain(context, published, verify);
  if (publishedResult === null) return first;
  // Another process may have fetched a newer chain.
  await cache.write(({ keyChain }) => (isLater(keyChain, { known, published }) ? null : { keyChain: published }));
  return publishedResult;
}

/** Returns true for a chain cached since `known` was read that continues `published`. */
function isLater(keyChain: KeyChain | null, { known, published }: Record<string, KeyChain | null>): boolean {
  if (keyChain === null || JSON.stringify(keyChain) === JSON.stringify(known)) return false;
  return keyChain.predecessors.some(({ public_key }) => public_key === published?.public_key);
}

/** @returns null when the chain leads to no known key */
async function verifyWithChain<Result extends Verification>(
  { host, licenseKeys: pinned }: ClientContext,
  chain: ReturnType<typeof parseKeyChain>,
  verify: (pems: readonly string[]) => Promise<Result>,
): Promise<Result | null> {
  const more = chain === null ? [] : await host.resolveFollowingKeys(pinned, chain);
  const result = more.length === 0 ? null : await verify([...pinned, ...more]);
  return result?.reason === 'unknown_key' ? null : result;
}
