/** Uploaded chunks are found by the SHA-1 of their content, so interrupted uploads can resume. */
import { createHash } from 'node:crypto';
import { collection, inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../kernel/errors.js';
import { MAX_CHUNKS_PER_UPLOAD, CHUNK_BYTES, type Chunk } from './model.js';

/** Allows two pending bundles of maximum size per project. */
const MAX_CHUNKS = 2 * MAX_CHUNKS_PER_UPLOAD;
const DAY_MS = 86_400_000;
const DELETE_BATCH_SIZE = 20;

/** Separates uploads of different projects. */
export const toSpace = (project: string | null): string => project ?? '*';

export interface UploadedChunk {
  name: string;
  bytes: Uint8Array;
}

function hashChunk({ name, bytes }: UploadedChunk): string {
  if (bytes.length === 0 || bytes.length > CHUNK_BYTES) throw invalid({ file: `must have 1 to ${CHUNK_BYTES} bytes` });
  const sha1 = createHash('sha1').update(bytes).digest('hex');
  if (sha1 !== name.toLowerCase()) throw invalid({ file: 'does not match the SHA-1 in its name' });
  return sha1;
}

@injectable()
export class ChunkInbox {
  constructor(
    @inject(collection<Chunk>('chunks')) private readonly chunks: Collection<Chunk>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /**
   * Stores chunks in one batch; a repeat extends their lifetime.
   * @throws ServiceError validation_failed (size or content), insufficient_storage (too many
   *   pending chunks)
   */
  async put(space: string, pieces: readonly UploadedChunk[]): Promise<void> {
    const at = this.clock.iso();
    const chunks = pieces.map((piece) => ({ id: `${space}:${hashChunk(piece)}`, space, at, data: piece.bytes }));
    if ((await this.chunks.count({ space })) >= MAX_CHUNKS) {
      throw new ServiceError(
        'insufficient_storage',
        'Too many chunks are waiting for their bundles; they expire within a day.',
      );
    }
    await this.chunks.bulk(chunks.map((put) => ({ put })));
  }

  async listMissing(space: string, names: readonly string[]): Promise<string[]> {
    const known = new Set<string>();
    const at = this.clock.iso();
    const distinct = [...new Set(names)];
    const updateResults = await this.chunks.bulk(
      distinct.map((name) => ({ change: { id: `${space}:${name}` }, update: { set: { at } } })),
    );
    updateResults.forEach((result, i) => {
      if ('n' in result && result.n > 0) known.add(distinct[i] ?? '');
    });
    return distinct.filter((name) => !known.has(name));
  }

  async getData(space: string, name: string): Promise<Uint8Array | null> {
    return (await this.chunks.get(`${space}:${name}`))?.data ?? null;
  }

  async delete(space: string, names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += DELETE_BATCH_SIZE) {
      await this.chunks.remove({
        id: { in: names.slice(at, at + DELETE_BATCH_SIZE).map((name) => `${space}:${name}`) },
      });
    }
  }

  async deleteAll(space: string): Promise<void> {
    while ((await this.chunks.remove({ space }, DELETE_BATCH_SIZE)) === DELETE_BATCH_SIZE);
  }

  /** Deletes chunks that were sent a day ago and not sent again. */
  async deleteExpired(signal: AbortSignal): Promise<void> {
    const before = new Date(this.clock.now() - DAY_MS).toISOString();
    while (
      !signal.aborted &&
      (await this.chunks.remove({ at: { lt: before } }, DELETE_BATCH_SIZE)) === DELETE_BATCH_SIZE
    );
  }
}
