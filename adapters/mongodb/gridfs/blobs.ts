/**
 * The driver's read stream prefetches up to 16 MiB per reader, and its cursor times out for slow
 * readers.
 */
import { GridFSBucket, type GridFSBucketWriteStream, type ObjectId } from 'mongodb';
import { BUCKET_NAME, type GridFsDatabase, type FolderFile } from './database.js';

export const CHUNK_BYTES = 256 * 1024;
const WRITE_BATCH_BYTES = 4 * CHUNK_BYTES;
const REMOVE_BATCH_CHUNKS = 256;

const allocateChunk = (): Uint8Array => Buffer.allocUnsafeSlow(CHUNK_BYTES);

export class MissingChunkError extends Error {
  override name = 'PieceMissing';
}

export class GridFsBlobs {
  constructor(private readonly database: GridFsDatabase) {}

  /**
   * After an error the caller must remove it.
   * @throws the error of `bytes`, and as `GridFsDatabase.write`
   */
  async write(id: ObjectId, name: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<number> {
    const bucket = new GridFSBucket(this.database.db, { bucketName: BUCKET_NAME });
    const stream = bucket.openUploadStreamWithId(id, name, { chunkSizeBytes: CHUNK_BYTES });
    // The failed call already throws this error.
    stream.on('error', () => undefined);
    let size = 0;
    try {
      for await (const whole of regroupBytes(bytes)) {
        size += whole.length;
        await this.database.write(() => sendBytes(stream, whole));
      }
      await this.database.write(() => endStream(stream));
      return size;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /**
   * Reads the bytes from `start` to `end` (exclusive) in chunks of 256 KiB.
   * @throws Error when a chunk is missing
   */
  async *read(
    { file, chunk: length = CHUNK_BYTES }: Pick<FolderFile, 'file' | 'chunk'>,
    { start, end }: { start: number; end: number },
    allocate: () => Uint8Array = allocateChunk,
  ): AsyncGenerator<Uint8Array> {
    let n = -1;
    let piece: Uint8Array = new Uint8Array(0);
    for (let at = start; at < end;) {
      const buffer = allocate();
      const wanted = Math.min(buffer.length, end - at);
      let filled = 0;
      while (filled < wanted) {
        const next = Math.floor(at / length);
        if (next !== n) piece = await this.#readChunk(file as ObjectId, next);
        n = next;
        const part = piece.subarray(at % length, (at % length) + wanted - filled);
        if (part.length === 0) throw new Error(`chunk ${n} of the package ${String(file)} is truncated`);
        buffer.set(part, filled);
        filled += part.length;
        at += part.length;
      }
      yield filled === buffer.length ? buffer : buffer.subarray(0, filled);
    }
  }

  countChunks(file: ObjectId): Promise<number> {
    return this.database.run(() => this.database.chunks.countDocuments({ files_id: file }));
  }

  /**
   * Removes in steps, each within its deadline. The file entry goes first, so that other tools see
   * no partial file.
   */
  async remove(file: ObjectId): Promise<void> {
    await this.database.write(() => this.database.files.deleteOne({ _id: file }));
    for (;;) {
      const [first] = await this.database.run(() =>
        this.database.chunks
          .find({ files_id: file }, { projection: { n: 1 } })
          .sort({ files_id: 1, n: 1 })
          .limit(1)
          .toArray(),
      );
      if (first === undefined) return;
      const part = { files_id: file, n: { $lt: first.n + REMOVE_BATCH_CHUNKS } };
      await this.database.write(() => this.database.chunks.deleteMany(part));
    }
  }

  async #readChunk(file: ObjectId, n: number): Promise<Uint8Array> {
    const found = await this.database.run(() =>
      this.database.chunks.findOne({ files_id: file, n }, { projection: { _id: 0, data: 1 } }),
    );
    if (found === null) throw new MissingChunkError(`chunk ${n} of the package ${String(file)} is missing in MongoDB`);
    return found.data.buffer.subarray(0, found.data.position);
  }
}

async function* regroupBytes(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  for await (const piece of bytes) {
    pieces.push(piece);
    held += piece.length;
    if (held < WRITE_BATCH_BYTES) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    held = 0;
  }
  if (held > 0) yield Buffer.concat(pieces);
}

const sendBytes = (stream: GridFSBucketWriteStream, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

const endStream = (stream: GridFSBucketWriteStream): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.once('finish', resolve);
    stream.once('error', reject);
    stream.end();
  });
