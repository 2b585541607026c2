import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { StreamableFile } from '../../../ports/http/index.js';
import { Failure } from '../wire/failure.js';
import type { HttpResponse } from '../wire/http-response.js';
import type { BodyStream } from '../wire/body-stream.js';
import { ResponseWriter } from './response-writer.js';
import type { StreamSlot } from '../limits/stream-slots.js';
import type { BufferPool } from './buffer-pool.js';
import { resolveFilePart } from './file-request.js';

export interface FileStreamOptions {
  stallMs: number;
  buffers: BufferPool;
  place: Pick<StreamSlot, 'allowEviction' | 'markProgress'>;
  failed: (thrown: unknown) => void;
  closed: () => void;
}

/**
 * Runs after the source's first piece, so that a source that cannot be opened is an ordinary error.
 * @returns 412 and 416 as failures
 */
export async function createFileResponse(
  file: StreamableFile,
  method: string,
  requestHeaders: IncomingHttpHeaders,
  own: Record<string, string | string[]>,
  rules: FileStreamOptions,
): Promise<HttpResponse | Failure> {
  const part = resolveFilePart(file, method, requestHeaders);
  if (part.status === 412) return new Failure('precondition_failed', 'The file was replaced.');
  if (part.status === 416) {
    const headers = { 'content-range': `bytes */${file.size}`, 'accept-ranges': 'bytes' };
    return new Failure('invalid_request', `The range is outside the file of ${file.size} bytes.`, { headers }, 416);
  }
  const bytes = part.end - part.start;
  const headers: HttpResponse['headers'] = {
    // Caches must revalidate, so that a withdrawn file disappears.
    'cache-control': 'no-cache',
    ...own,
    etag: file.etag,
    'accept-ranges': 'bytes',
    ...(file.modifiedAt && { 'last-modified': file.modifiedAt.toUTCString() }),
    ...(part.status !== 304 && { 'content-type': file.contentType }),
    ...(part.status === 206 && { 'content-range': `bytes ${part.start}-${part.end - 1}/${file.size}` }),
  };
  const unread = part.status === 304 || method === 'HEAD' || bytes === 0;
  const source = unread ? null : await FileSource.open(file, part.start, part.end, rules.buffers.acquire);
  const length = part.status === 304 ? null : bytes;
  return { status: part.status, headers, body: new FileBody(length, source, rules) };
}

class FileSource {
  #next: Promise<IteratorResult<Uint8Array>>;

  private constructor(private readonly pieces: AsyncIterator<Uint8Array>) {
    this.#next = pieces.next();
  }

  static async open(file: StreamableFile, start: number, end: number, allocate: () => Uint8Array): Promise<FileSource> {
    const source = new FileSource(file.open(start, end, allocate)[Symbol.asyncIterator]());
    await source.#next;
    return source;
  }

  async next(): Promise<Uint8Array | null> {
    const { done, value } = await this.#next;
    if (done === true) return null;
    this.#next = this.pieces.next();
    // The next read reports the error; this avoids an unhandled rejection.
    this.#next.catch(() => undefined);
    return value;
  }

  async close(): Promise<void> {
    await this.pieces.return?.();
  }
}

class FileBody implements BodyStream {
  constructor(
    readonly bytes: number | null,
    private readonly source: FileSource | null,
    private readonly rules: FileStreamOptions,
  ) {}

  async send(res: ServerResponse): Promise<void> {
    const { source, rules } = this;
    try {
      if (source === null || (await this.#pump(source, res))) res.end();
    } catch (thrown) {
      rules.failed(thrown);
      // The promised length cannot be met; a cut connection signals that.
      res.destroy();
    } finally {
      rules.closed();
      await source?.close().catch(rules.failed);
    }
  }

  async #pump(source: FileSource, res: ServerResponse): Promise<boolean> {
    const { stallMs, buffers, place } = this.rules;
    const out = new ResponseWriter(res, stallMs);
    place.allowEviction(() => out.abort());
    let left = this.bytes ?? 0;
    for (let piece = await source.next(); piece !== null; piece = await source.next()) {
      left -= piece.length;
      if (left < 0) throw new RangeError('a file returned more bytes than its size');
      if (!(await out.write(piece))) return false;
      buffers.release(piece);
      place.markProgress();
    }
    if (left > 0) throw new RangeError(`a file returned ${left} bytes fewer than its size`);
    return true;
  }
}
