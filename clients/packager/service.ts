import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { PackageRuntime } from '../../lib/formats/manifest.js';
import { toPrintable } from '../../lib/text/printable.js';
import type { ArchiveFile } from './archive-file.js';
import type { GitCommits } from './commits.js';
import { EXIT_CODES, PackagerFailure, type ExitCode } from './packager-failure.js';
import { sendHttpRequest, type ReceivedHttpResponse } from './http.js';

export interface ListedRelease {
  version: string;
  platform: string;
  package_sha256: string;
  withdrawn_at: string | null;
}

export interface ReleaseToPublish {
  product: string;
  version: string;
  channel: string;
  platform: string;
  build: string | null;
  min_version: string | null;
  mandatory: boolean;
  rollout_percent: number | null;
  notes: string | null;
  meta: { preserve_patterns: string[]; entry: string | null; runtime: PackageRuntime | null };
}

const READ_BYTES = 256 * 1024;
const RESPONSE_TIMEOUT_MS = 60_000;
/** The service reads and hashes a large package before it responds. */
const PUBLISH_TIMEOUT_MS = 15 * 60_000;
const MAX_HEADER_CHARACTERS = 4_096;

export class PublishingClient {
  constructor(
    private readonly base: URL,
    private readonly token: string,
  ) {}

  /** @throws PackagerFailure exit 2: a release must not be published without a readable history */
  async fetchHistory(product: string, channel: string): Promise<ListedRelease[]> {
    const answer = await this.#request(EXIT_CODES.latest, this.#buildUrl('latest.json', { product, channel }), {
      method: 'GET',
      headers: { accept: 'application/json' },
      answerMs: RESPONSE_TIMEOUT_MS,
    });
    if (answer.status !== 200)
      throw new PackagerFailure(EXIT_CODES.latest, `latest.json cannot be read: ${formatRejection(answer)}`);
    const releases = parseRecord(answer.text)?.['releases'];
    if (!Array.isArray(releases) || !releases.every(isListedRelease))
      throw new PackagerFailure(
        EXIT_CODES.latest,
        'latest.json cannot be read: the response is not a release history.',
      );
    return releases;
  }

  /**
   * @throws PackagerFailure exit 4 when it was rejected, 1 when the service could not be reached
   */
  async publish(
    release: ReleaseToPublish,
    archive: ArchiveFile,
    onProgress: (done: number, total: number) => void,
  ): Promise<Record<string, unknown>> {
    const { product, version, channel, platform, build, min_version, mandatory, rollout_percent } = release;
    const url = this.#buildUrl('publish', {
      product,
      version,
      channel,
      platform,
      build,
      min_version,
      mandatory: mandatory ? 'true' : null,
      rollout_percent: rollout_percent === null ? null : String(rollout_percent),
    });
    async function* content(): AsyncGenerator<Uint8Array> {
      let done = 0;
      for await (const piece of createReadStream(archive.path, {
        highWaterMark: READ_BYTES,
      }) as AsyncIterable<Buffer>) {
        yield piece;
        done += piece.length;
        onProgress(done, archive.size);
      }
    }
    const { headers, body } = buildBody(release, archive, content());
    const answer = await this.#request(EXIT_CODES.error, url, {
      method: 'POST',
      headers: { accept: 'application/json', 'x-package-sha256': archive.sha256, ...headers },
      body,
      answerMs: PUBLISH_TIMEOUT_MS,
    });
    const responseBody = parseRecord(answer.text);
    if ((answer.status === 200 || answer.status === 201) && responseBody !== null) return responseBody;
    const exit =
      answer.status >= 400 && answer.status < 500 && answer.status !== 429 ? EXIT_CODES.refused : EXIT_CODES.error;
    throw new PackagerFailure(exit, `Not published: ${formatRejection(answer)}`);
  }

  /** @throws PackagerFailure when they were not stored */
  async reportCommits({ product, version, channel }: ReleaseToPublish, commits: GitCommits): Promise<void> {
    const answer = await this.#request(EXIT_CODES.error, this.#buildUrl('commits', {}), {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: Readable.from([Buffer.from(JSON.stringify({ product, version, channel, ...commits }))]),
      answerMs: RESPONSE_TIMEOUT_MS,
    });
    if (answer.status !== 200)
      throw new PackagerFailure(EXIT_CODES.error, `The commits were not accepted: ${formatRejection(answer)}`);
  }

  #buildUrl(path: string, query: Readonly<Record<string, string | null>>): URL {
    const url = new URL(`api/updateservice/v1/${path}`, this.base);
    for (const [key, value] of Object.entries(query)) if (value !== null) url.searchParams.set(key, value);
    return url;
  }

  async #request(
    exit: ExitCode,
    url: URL,
    request: Parameters<typeof sendHttpRequest>[1],
  ): Promise<ReceivedHttpResponse> {
    try {
      return await sendHttpRequest(url, {
        ...request,
        headers: { ...request.headers, authorization: `Bearer ${this.token}` },
      });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new PackagerFailure(exit, `The request to ${url.origin} failed (${code ?? message}).`);
    }
  }
}

/** Sends only the package when notes and patterns fit into headers, else a multipart body. */
function buildBody(
  { notes, meta }: ReleaseToPublish,
  archive: ArchiveFile,
  content: AsyncIterable<Uint8Array>,
): { headers: Record<string, string>; body: AsyncIterable<Uint8Array> } {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const metaText = JSON.stringify(meta);
  const packed = { 'x-package-meta': base64(metaText), ...(notes !== null && { 'x-release-notes': base64(notes) }) };
  if (Object.values(packed).join('').length <= MAX_HEADER_CHARACTERS) {
    return {
      headers: { ...packed, 'content-type': 'application/gzip', 'content-length': String(archive.size) },
      body: content,
    };
  }
  const boundary = `packager-${randomBytes(16).toString('hex')}`;
  const field = (name: string, text: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`;
  const before = Buffer.from(
    (notes === null ? '' : field('notes', notes)) +
      field('meta', metaText) +
      `--${boundary}\r\nContent-Disposition: form-data; name="package"; filename="package.tar.gz"\r\n` +
      'Content-Type: application/gzip\r\n\r\n',
  );
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield before;
    yield* content;
    yield after;
  }
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(before.length + archive.size + after.length),
    },
    body: parts(),
  };
}

function formatRejection({ status, location, text }: ReceivedHttpResponse): string {
  if (location !== null)
    return `${status}, a redirect to ${toPrintable(location, 200)}; use that address for --server.`;
  const error = parseRecord(text)?.['error'];
  if (!isRecord(error)) return `${status}, but not from an AOS service; check --server.`;
  const fields = isRecord(error['fields']) ? Object.entries(error['fields']) : [];
  const details = fields.map(([name, why]) => `${name}: ${String(why)}`).join('; ');
  return toPrintable(
    `${status} ${String(error['code'])}: ${String(error['message'])}${details && ` (${details})`}`,
    1_000,
  );
}

function parseRecord(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isListedRelease = (value: unknown): value is ListedRelease =>
  isRecord(value) && typeof value['version'] === 'string' && typeof value['platform'] === 'string';
