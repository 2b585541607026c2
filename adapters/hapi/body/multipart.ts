/** Parses `multipart/form-data` with one large, streamed part and a few small ones. */
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ServiceError } from '../../../kernel/errors.js';
import type { StreamedInput, UploadedBody } from '../../../ports/http/index.js';
import { readPacedBody, createTooLongError, type MinimumRate } from './paced-body.js';

type MultipartLimits = NonNullable<StreamedInput['multipart']>;

const OVERHEAD_BYTES = 64 * 1024;
const MAX_BUFFERED_BYTES = 256 * 1024;
const BOUNDARY_PATTERN = /;\s*boundary=(?:"[^"]{1,70}"|[^\s";]{1,70})\s*(?:;|$)/i;

export const getMaxBodyBytes = (bytes: number, { fields, fieldBytes }: MultipartLimits): number =>
  bytes + fields.length * fieldBytes + OVERHEAD_BYTES;
export const hasBoundary = (contentType: string | undefined): boolean => BOUNDARY_PATTERN.test(contentType ?? '');

const createMalformedError = (): ServiceError =>
  new ServiceError('invalid_request', 'The multipart body is malformed.');
const createPartError = (name: string, problem: string): ServiceError =>
  new ServiceError('validation_failed', 'Some parts of the body are not valid.', { fields: { [name]: problem } });

export class MultipartBody implements UploadedBody {
  readonly mediaType = 'multipart/form-data';
  readonly declaredBytes = null;
  readonly content: AsyncIterable<Uint8Array>;
  readonly #fields = new Map<string, string>();
  readonly #found: Promise<BusboyFileStream | null>;
  #file: BusboyFileStream | null = null;
  #settleFound!: (file: BusboyFileStream | null) => void;
  #failure: Error | null = null;
  #giveUp: ((error: Error) => void) | null = null;
  #read = false;
  #pumped: Promise<void> | null = null;

  constructor(
    private readonly req: IncomingMessage,
    private readonly parts: MultipartLimits,
    private readonly limit: number,
    private readonly least: MinimumRate,
  ) {
    this.#found = new Promise((resolve) => (this.#settleFound = resolve));
    this.content = this.#readContent();
  }

  async readLeadingFields(): Promise<Record<string, string>> {
    this.#pumped ??= this.#pump();
    await this.#found;
    if (this.#failure !== null) throw this.#failure;
    return Object.fromEntries(this.#fields);
  }

  async readFields(): Promise<Record<string, string>> {
    if (!this.#read) throw new TypeError('the content must be read first: parts may follow it');
    return Object.fromEntries(this.#fields);
  }

  async *#readContent(): AsyncGenerator<Uint8Array, void, void> {
    const pumped = (this.#pumped ??= this.#pump());
    let bytes = 0;
    try {
      const file = await this.#found;
      if (file !== null) {
        for await (const piece of file as AsyncIterable<Buffer>) {
          bytes += piece.length;
          if (bytes > this.limit) throw createTooLongError(this.limit);
          yield piece;
        }
        await pumped;
      }
      if (this.#failure !== null) throw this.#failure;
      this.#read = true;
    } catch (error) {
      // The reason for stopping the parser is more specific than the parser's error.
      throw this.#failure ?? error;
    } finally {
      this.#fail(createMalformedError());
    }
  }

  /** Never rejects; errors are stored in `#failure`. */
  async #pump(): Promise<void> {
    const { parts, limit } = this;
    const most = getMaxBodyBytes(limit, parts);
    const maxExtraBytes = most - limit + MAX_BUFFERED_BYTES;
    try {
      const parser = this.#createParser();
      let bytes = 0;
      for await (const piece of readPacedBody(this.req, most, this.least)) {
        await this.#waitOrFail((done) => parser.write(piece, () => done()));
        bytes += piece.length;
        if (bytes - (this.#file?.bytesRead ?? 0) > maxExtraBytes) throw createMalformedError();
      }
      await this.#waitOrFail((done) => parser.once('finish', done).end());
      if (this.#file === null) throw createPartError(parts.file, 'is required');
    } catch (error) {
      this.#fail(error instanceof Error ? error : createMalformedError());
    }
  }

  #createParser(): BusboyInstance {
    const { file, fields, fieldBytes } = this.parts;
    const parser = new Busboy({
      headers: { 'content-type': this.req.headers['content-type'] ?? '' },
      limits: {
        fieldSize: fieldBytes,
        files: 1,
        fields: fields.length,
        parts: fields.length + 1,
        headerPairs: 20,
        headerSize: 8 * 1024,
      },
      isPartAFile: (name) => {
        if (name !== file && !fields.includes(name ?? ''))
          this.#rejectPart(name ?? 'name', 'is not a part of this form');
        return name === file;
      },
    });
    const tooMany = (): void => this.#rejectPart('body', `must be ${[file, ...fields].join(', ')}, each exactly once`);
    parser.on('file', (_, stream) => {
      this.#file = stream;
      stream.on('error', () => this.#fail(createMalformedError()));
      this.#settleFound(stream);
    });
    parser.on('field', (name, value, _, truncated) => this.#addField(name, value, truncated));
    parser.on('partsLimit', tooMany).on('filesLimit', tooMany).on('fieldsLimit', tooMany);
    parser.on('error', () => this.#fail(createMalformedError()));
    return parser;
  }

  #addField(name: string, value: string, truncated: boolean): void {
    if (truncated) this.#rejectPart(name, `is larger than ${this.parts.fieldBytes} bytes`);
    else if (this.#fields.has(name)) this.#rejectPart(name, 'is given more than once');
    else this.#fields.set(name, value);
  }

  #rejectPart(name: string, problem: string): void {
    this.#fail(createPartError(name.slice(0, 200), problem));
  }

  #fail(error: Error): void {
    if (this.#failure !== null || this.#read) return;
    this.#failure = error;
    this.#giveUp?.(error);
    this.#file?.destroy(error);
    this.#settleFound(null);
  }

  #waitOrFail(work: (done: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#giveUp = reject;
      work(resolve);
    });
  }
}
