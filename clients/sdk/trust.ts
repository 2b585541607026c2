/**
 * Which keys may have signed (contract 50, license files; contract 90, SDK: `licensePublicKey`): the pinned ones, and
 * those that a chain leads to from one of them. The chain is kept in the cache, where anybody may write, so it is
 * verified at each read.
 */
import { keyChainOf, type KeyChain } from './key-chain.js';
import type { Context } from './context.js';

const PATH = '/api/license/v1/pubkey';

/** A verification that may fail because it does not know the key. */
export interface Verification {
  valid: boolean;
  reason?: string;
}

/** Verifies by the pinned keys, then by the chain in the cache, then, where a server may be asked, by its chain. */
export async function verifiedBy<Result extends Verification>(
  context: Context,
  verify: (pems: readonly string[]) => Promise<Result>,
  asking: { online: boolean; signal?: AbortSignal | undefined },
): Promise<Result> {
  const { licenseKeys: pinned, cache } = context;
  const first = await verify(pinned);
  if (first.reason !== 'unknown_key' || pinned.length === 0) return first;
  const known = cache.read().keyChain;
  const kept = await followed(context, known, verify);
  if (kept !== null) return kept;
  if (!asking.online) return first;
  const { status, body } = await context.ask('GET', PATH, { signal: asking.signal });
  const published = status === 200 ? keyChainOf(body) : null;
  const asked = await followed(context, published, verify);
  if (asked === null) return first;
  // Another process may have asked after a rotation that this answer does not know.
  await cache.write(({ keyChain }) => (isLater(keyChain, { known, published }) ? null : { keyChain: published }));
  return asked;
}

/** Kept since `known` was read, and goes on where `published` ends. Whether it is true is seen at the next read. */
function isLater(keyChain: KeyChain | null, { known, published }: Record<string, KeyChain | null>): boolean {
  if (keyChain === null || JSON.stringify(keyChain) === JSON.stringify(known)) return false;
  return keyChain.predecessors.some(({ public_key }) => public_key === published?.public_key);
}

/** Null: the chain leads to no key that is known by then. */
async function followed<Result extends Verification>(
  { host, licenseKeys: pinned }: Context,
  chain: ReturnType<typeof keyChainOf>,
  verify: (pems: readonly string[]) => Promise<Result>,
): Promise<Result | null> {
  const more = chain === null ? [] : await host.keysFollowed(pinned, chain);
  const result = more.length === 0 ? null : await verify([...pinned, ...more]);
  return result?.reason === 'unknown_key' ? null : result;
}
