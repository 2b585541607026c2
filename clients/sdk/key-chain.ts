/**
 * From a pinned key to those that came after it (contract 50, license files: `predecessors`), for Node and for
 * browsers. Each key is trusted only by the signature of the one before it, beginning with a pinned one: what leads
 * backwards proves nothing, since anybody can sign our newest key.
 */

/** What `/pubkey` publishes of the keys, and what a client keeps of it. */
export interface KeyChain {
  /** The newest, SPKI, PEM. */
  public_key: string;
  /** Newest first; each `signature` (base64) is by that key over its successor's SPKI DER. */
  predecessors: readonly { public_key: string; signature: string }[];
}

/** Who pinned a key before these begins anew. */
const LONGEST_CHAIN = 100;
/** Of an RSA signature in base64: 16,384 bits. */
const LONGEST_SIGNATURE = 2_732;

/** Null: it is none, by its looks. */
export function keyChainOf(value: unknown): KeyChain | null {
  const { public_key, predecessors } = recordOf(value);
  if (typeof public_key !== 'string' || !Array.isArray(predecessors)) return null;
  const earlier: KeyChain['predecessors'][number][] = [];
  for (const each of predecessors.slice(0, LONGEST_CHAIN) as unknown[]) {
    const { public_key: key, signature } = recordOf(each);
    if (typeof key !== 'string' || typeof signature !== 'string' || signature.length > LONGEST_SIGNATURE) return null;
    earlier.push({ public_key: key, signature });
  }
  return { public_key, predecessors: earlier };
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

interface Link {
  spkiSha256: string;
  spki: Uint8Array;
}

export interface KeyReader<Key extends Link> {
  /** Null: it is no public key. */
  read: (pem: string) => Promise<Key | null>;
  isSigned: (by: Key, bytes: Uint8Array, signature: string) => Promise<boolean>;
}

/**
 * The keys that follow the earliest pinned one in the chain, as PEM; none when one of them is no key, stands there
 * twice, or was not signed by the one before it. The first signature to be verified is the pinned key's, so that a
 * stranger's chain costs no more.
 */
export async function keysFollowed<Key extends Link>(
  pinned: readonly string[],
  { public_key, predecessors }: KeyChain,
  { read, isSigned }: KeyReader<Key>,
): Promise<readonly string[]> {
  const pems = [public_key, ...predecessors.map((each) => each.public_key)];
  const keys = await Promise.all(pems.map(read));
  const pins = new Set((await Promise.all(pinned.map(read))).map((key) => key?.spkiSha256));
  const known = new Set(keys.map((key) => key?.spkiSha256));
  if (keys.includes(null) || known.size < keys.length) return [];
  const earliest = keys.findLastIndex((key) => key !== null && pins.has(key.spkiSha256));
  for (let at = earliest; at > 0; at--) {
    const [earlier, later, link] = [keys[at], keys[at - 1], predecessors[at - 1]];
    if (!earlier || !later || !link || !(await isSigned(earlier, later.spki, link.signature))) return [];
  }
  return pems.slice(0, Math.max(0, earliest));
}
