/**
 * A key is trusted only by its predecessor's signature, starting with a pinned key (contract 50,
 * license files: `predecessors`). Backward links prove nothing, because anyone can sign our newest
 * key.
 */

/** Public keys as `/pubkey` publishes and the client caches them. */
export interface KeyChain {
  /** The newest key, SPKI, PEM. */
  public_key: string;
  /** Newest first; each `signature` (base64) is over its successor's SPKI DER. */
  predecessors: readonly { public_key: string; signature: string }[];
}

/** Clients that pinned an earlier key must pin again. */
const MAX_CHAIN_LENGTH = 100;
/** Maximum base64 length of an RSA signature: 16,384 bits. */
const MAX_SIGNATURE_LENGTH = 2_732;

/** Parses a chain; null when it is malformed. */
export function parseKeyChain(value: unknown): KeyChain | null {
  const { public_key, predecessors } = toRecord(value);
  if (typeof public_key !== 'string' || !Array.isArray(predecessors)) return null;
  const earlier: KeyChain['predecessors'][number][] = [];
  for (const each of predecessors.slice(0, MAX_CHAIN_LENGTH) as unknown[]) {
    const { public_key: key, signature } = toRecord(each);
    if (typeof key !== 'string' || typeof signature !== 'string' || signature.length > MAX_SIGNATURE_LENGTH)
      return null;
    earlier.push({ public_key: key, signature });
  }
  return { public_key, predecessors: earlier };
}

const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

interface ChainKey {
  spkiSha256: string;
  spki: Uint8Array;
}

export interface KeyReader<Key extends ChainKey> {
  /** Imports a key; null when it is invalid. */
  read: (pem: string) => Promise<Key | null>;
  isSigned: (by: Key, bytes: Uint8Array, signature: string) => Promise<boolean>;
}

/**
 * Returns the keys after the earliest pinned one, as PEM; none when a key is invalid, repeated or
 * not signed by its predecessor.
 */
export async function followKeyChain<Key extends ChainKey>(
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
