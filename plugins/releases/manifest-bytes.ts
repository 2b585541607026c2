import { createHash } from 'node:crypto';
import { formatManifestPieces, type ManifestInput } from '../../lib/formats/manifest.js';
import { splitText } from '../../lib/text/split-text.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

export interface BuiltManifest {
  text: string;
  bytes: Buffer;
  /** Hex. */
  sha256: string;
}

const FILES_PER_CHUNK = 500;
/** Each file is compared with all patterns. */
const PATTERNS_PER_HALVING = 4;
const HASH_CHUNK_UNITS = 512 * 1024;

/** @param release files sorted by path, by code point */
export async function buildManifest(
  release: ManifestInput,
  pause: () => Promise<void> = yieldToEventLoop,
): Promise<BuiltManifest> {
  const perPiece = Math.max(
    1,
    Math.floor(FILES_PER_CHUNK / (1 + release.preserve_patterns.length / PATTERNS_PER_HALVING)),
  );
  const parts: Buffer[] = [];
  const sum = createHash('sha256');
  for (const piece of formatManifestPieces(release, perPiece)) {
    const part = Buffer.from(piece);
    sum.update(part);
    parts.push(part);
    await pause();
  }
  const bytes = Buffer.concat(parts);
  await pause();
  return { text: bytes.toString(), bytes, sha256: sum.digest('hex') };
}

export async function hashManifest(text: string, pause: () => Promise<void> = yieldToEventLoop): Promise<string> {
  const sum = createHash('sha256');
  for (const piece of splitText(text, HASH_CHUNK_UNITS)) {
    sum.update(piece);
    await pause();
  }
  return sum.digest('hex');
}
