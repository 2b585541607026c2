/**
 * Pieces that tools have sent and that belong to no bundle yet. They are found by their content's SHA-1, so an upload
 * that breaks off goes on where it was.
 */
import { createHash } from 'node:crypto';
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract.js';
import { invalid, ServiceError } from '../../kernel/errors.js';
import { MOST_PIECES, PIECE_BYTES, type Chunk } from './model.js';

/** Two bundles of the largest size may be under way for a project. */
const MOST_CHUNKS = 2 * MOST_PIECES;
const DAY_MS = 86_400_000;
/** Removed at a time: each has some hundred kilobytes. */
const STEP = 20;

/** What a token sends meets nothing that one of another project sent. */
export const spaceOf = (project: string | null): string => project ?? '*';

/** A piece as a tool sends it, named by the SHA-1 that it states, in hex. */
export interface SentPiece {
  name: string;
  bytes: Uint8Array;
}

/** The SHA-1 of its content, in hex. @throws ServiceError validation_failed */
function checkPiece({ name, bytes }: SentPiece): string {
  if (bytes.length === 0 || bytes.length > PIECE_BYTES) throw invalid({ file: `must have 1 to ${PIECE_BYTES} bytes` });
  const sha1 = createHash('sha1').update(bytes).digest('hex');
  if (sha1 !== name.toLowerCase()) throw invalid({ file: 'is not the content of the SHA-1 that names it' });
  return sha1;
}

@injectable()
export class Inbox {
  constructor(
    @inject(collection<Chunk>('chunks')) private readonly chunks: Collection<Chunk>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /**
   * Stores pieces, in one batch; a repeat keeps one longer.
   * @throws ServiceError validation_failed (a size, a content), insufficient_storage (too many wait)
   */
  async put(space: string, pieces: readonly SentPiece[]): Promise<void> {
    const at = this.clock.iso();
    const chunks = pieces.map((piece) => ({ id: `${space}:${checkPiece(piece)}`, space, at, data: piece.bytes }));
    if ((await this.chunks.count({ space })) >= MOST_CHUNKS) {
      throw new ServiceError(
        'insufficient_storage',
        'Too many pieces wait for their bundles; they leave within a day.',
      );
    }
    await this.chunks.bulk(chunks.map((put) => ({ put })));
  }

  /** Those that have not been sent yet. */
  async missing(space: string, names: readonly string[]): Promise<string[]> {
    const known = new Set<string>();
    const at = this.clock.iso();
    const distinct = [...new Set(names)];
    const kept = await this.chunks.bulk(
      distinct.map((name) => ({ change: { id: `${space}:${name}` }, update: { set: { at } } })),
    );
    kept.forEach((result, i) => {
      if ('n' in result && result.n > 0) known.add(distinct[i] ?? '');
    });
    return distinct.filter((name) => !known.has(name));
  }

  /** Null: it is not there. */
  async data(space: string, name: string): Promise<Uint8Array | null> {
    return (await this.chunks.get(`${space}:${name}`))?.data ?? null;
  }

  async forget(space: string, names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += STEP) {
      await this.chunks.remove({ id: { in: names.slice(at, at + STEP).map((name) => `${space}:${name}`) } });
    }
  }

  /** All that a project's tokens sent. */
  async clear(space: string): Promise<void> {
    while ((await this.chunks.remove({ space }, STEP)) === STEP);
  }

  /** Removes what was sent a day ago and never asked for again. */
  async clean(signal: AbortSignal): Promise<void> {
    const before = new Date(this.clock.now() - DAY_MS).toISOString();
    while (!signal.aborted && (await this.chunks.remove({ at: { lt: before } }, STEP)) === STEP);
  }
}
