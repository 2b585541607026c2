/**
 * Manifests of 200,000 files have 35 MB: what is done with a whole one is done in pieces, and the event loop has a turn
 * between them.
 */
import { createHash } from 'node:crypto';
import { manifestPieces, type ManifestInput } from '../../formats/manifest.js';
import { textPieces } from '../../lib/text/pieces.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface BuiltManifest {
  text: string;
  /** The bytes that are signed. */
  bytes: Buffer;
  /** Of the bytes, hex. */
  sha256: string;
}

/** Files in a piece, where none of them is held against patterns. */
const FILES = 500;
/** A file that is held against this many patterns counts twice. */
const PATTERNS = 4;
const HASHED_UNITS = 512 * 1024;

/** @param release its files in the order of their paths by code point */
export async function buildManifest(release: ManifestInput, pause: () => Promise<void> = turn): Promise<BuiltManifest> {
  const perPiece = Math.max(1, Math.floor(FILES / (1 + release.preserve_patterns.length / PATTERNS)));
  const texts: string[] = [];
  const parts: Buffer[] = [];
  const sum = createHash('sha256');
  for (const piece of manifestPieces(release, perPiece)) {
    const part = Buffer.from(piece);
    sum.update(part);
    texts.push(piece);
    parts.push(part);
    await pause();
  }
  const text = texts.join('');
  await pause();
  return { text, bytes: Buffer.concat(parts), sha256: sum.digest('hex') };
}

export async function hashOf(text: string, pause: () => Promise<void> = turn): Promise<string> {
  const sum = createHash('sha256');
  for (const piece of textPieces(text, HASHED_UNITS)) {
    sum.update(piece);
    await pause();
  }
  return sum.digest('hex');
}
