/**
 * Parses `multipart/form-data` with one large, streamed part and a few small ones. Everything but
 * the large part is bounded. hapi's @hapi/pez has no back-pressure.
 */
import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ServiceError } from '../../../kernel/errors.js';
import type { StreamedInput, UploadedBody } from '../../../ports/http.js';
import { pacedBody, tooLong, type LeastRate } from './paced-body.js';

type Parts = NonNullable<StreamedInput['multipart']>;

const BESIDE = 64 * 1024;
const UNDER_WAY = 256 * 1024;
const BOUNDARY = /;\s*boundary=(?:"[^"]{1,70}"|[^\s";]{1,70})\s*(?:;|$)/i;

export const mostOf = (bytes: number, { fields, fieldBytes }: Parts): number =>
  bytes + fields.length * fieldBytes + BESIDE;
export const hasBoundary = (contentType: string | undefined): boolean => BOUNDARY.test(contentType ?? '');

const malformed = (): ServiceError => new ServiceError('invalid_request', 'The multipart body is malformed.');
const unfit = (name: string, problem: string): ServiceError =>
  new ServiceError('validation_failed', 'Some parts of the body are wrong.', { fields: { [name]: problem } });

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
    private readonly parts: Parts,
    private readonly limit: number,
    private readonly least: LeastRate,
  ) {
    this.#found = new Promise((resolve) => (this.#settleFound = resolve));
    this.content = this.#content();
  }

  async first(): Promise<Record<string, string>> {
    this.#pumped ??= this.#pump();
    await this.#found;
    if (this.#failure !== null) throw this.#failure;
    return Object.fromEntries(this.#fields);
  }

  async fields(): Promise<Record<string, string>> {
    if (!this.#read) throw new TypeError('the content is read first: parts may come behind it');
    return Object.fromEntries(this.#fields);
  }

  async *#content(): AsyncGenerator<Uint8Array, void, void> {
    const pumped = (this.#pumped ??= this.#pump());
    let bytes = 0;
    try {
      const file = await this.#found;
      if (file !== null) {
        for await (const piece of file as AsyncIterable<Buffer>) {
          bytes += piece.length;
          if (bytes > this.limit) throw tooLong(this.limit);
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
      this.#fail(malformed());
    }
  }

  /**
   * Feeds the parser as fast as the content is read. Never rejects; errors are stored in
   * `#failure`.
   */
  async #pump(): Promise<void> {
    const { parts, limit } = this;
    const most = mostOf(limit, parts);
    const beside = most - limit + UNDER_WAY;
    try {
      const parser = this.#parser();
      let bytes = 0;
      for await (const piece of pacedBody(this.req, most, this.least)) {
        await this.#orFail((done) => parser.write(piece, () => done()));
        bytes += piece.length;
        if (bytes - (this.#file?.bytesRead ?? 0) > beside) throw malformed();
      }
      await this.#orFail((done) => parser.once('finish', done).end());
      if (this.#file === null) throw unfit(parts.file, 'is required');
    } catch (error) {
      this.#fail(error instanceof Error ? error : malformed());
    }
  }

  #parser(): BusboyInstance {
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
        if (name !== file && !fields.includes(name ?? '')) this.#refuse(name ?? 'name', 'is no part of this form');
        return name === file;
      },
    });
    const tooMany = (): void => this.#refuse('body', `takes ${[file, ...fields].join(', ')}, each of them once`);
    parser.on('file', (_, stream) => {
      this.#file = stream;
      stream.on('error', () => this.#fail(malformed()));
      this.#settleFound(stream);
    });
    parser.on('field', (name, value, _, truncated) => this.#keep(name, value, truncated));
    parser.on('partsLimit', tooMany).on('filesLimit', tooMany).on('fieldsLimit', tooMany);
    parser.on('error', () => this.#fail(malformed()));
    return parser;
  }

  #keep(name: string, value: string, truncated: boolean): void {
    if (truncated) this.#refuse(name, `is larger than ${this.parts.fieldBytes} bytes`);
    else if (this.#fields.has(name)) this.#refuse(name, 'is given more than once');
    else this.#fields.set(name, value);
  }

  #refuse(name: string, problem: string): void {
    this.#fail(unfit(name.slice(0, 200), problem));
  }

  #fail(error: Error): void {
    if (this.#failure !== null || this.#read) return;
    this.#failure = error;
    this.#giveUp?.(error);
    this.#file?.destroy(error);
    this.#settleFound(null);
  }

  #orFail(work: (done: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) return reject(this.#failure);
      this.#giveUp = reject;
      work(resolve);
    });
  }
}
