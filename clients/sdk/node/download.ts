/**
 * Credentials are sent only to the server's origin (contract 90, SDK: `downloadUpdate`); https
 * never redirects to http.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { normalizeLicenseKey, getCredentialName } from '../../../lib/formats/license-key.js';
import { isPackageUrl } from '../../../lib/formats/platform.js';
import type { ClientContext } from '../context.js';
import { getAbortReason, getErrorText } from '../transport.js';
import { resolveServerPath } from '../options.js';
import type { Release } from '../update.js';
import type { ServiceProblem } from '../verdict.js';

export interface Download {
  /** The verified package; null after a failure. */
  path: string | null;
  /** True when the release store rejected or requires the license key. */
  unauthorized: boolean;
  isTransient: boolean;
  error?: ServiceProblem;
}

export type OnProgress = (done: number, total: number) => void;
export type Downloadable = Pick<Release, 'package_url' | 'package_size' | 'package_sha256'>;

class DownloadRejected extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly how: { unauthorized?: boolean; isTransient?: boolean } = {},
  ) {
    super(message);
  }
}

const MAX_REDIRECTS = 5;
const MAX_ATTEMPTS = 5;

export async function downloadUpdate(
  context: ClientContext,
  release: Downloadable,
  path: string,
  onProgress: OnProgress = () => undefined,
  signal?: AbortSignal,
): Promise<Download> {
  try {
    await fetchPackage(context, release, `${path}.part`, onProgress, signal);
    await rename(`${path}.part`, path);
    return { path, unauthorized: false, isTransient: false };
  } catch (error) {
    if (signal?.aborted === true) throw getAbortReason(signal);
    const rejection = error instanceof DownloadRejected ? error : new DownloadRejected('io', getErrorText(error));
    const { unauthorized = false, isTransient = false } = rejection.how;
    return { path: null, unauthorized, isTransient, error: { code: rejection.code, message: rejection.message } };
  }
}

async function fetchPackage(
  context: ClientContext,
  release: Downloadable,
  part: string,
  onProgress: OnProgress,
  signal?: AbortSignal,
): Promise<void> {
  const { package_url, package_size: size } = release;
  if (!isPackageUrl(package_url))
    throw new DownloadRejected('invalid_release', 'package_url is not the URL of a release package');
  const url = resolveServerPath(context.server, package_url);
  for (let attempt = 1, fresh = false; ; attempt++) {
    const before = await getFileSize(part);
    try {
      if (before > size) await rm(part);
      if (before !== size)
        await fetchRest(context, url, before > size ? 0 : before, { part, size, onProgress, signal });
    } catch (error) {
      const again = error instanceof DownloadRejected && error.how.isTransient === true && attempt < MAX_ATTEMPTS;
      // Without progress the next attempt would end the same way.
      if (!again || (await getFileSize(part)) <= before) throw error;
      continue;
    }
    if ((await hashFile(part)) === release.package_sha256.toLowerCase()) return;
    await rm(part, { force: true });
    // The existing part may have belonged to other bytes.
    if (before === 0 || fresh)
      throw new DownloadRejected('checksum_mismatch', 'the SHA-256 of the package does not match the release');
    fresh = true;
  }
}

interface PartialDownload {
  part: string;
  size: number;
  onProgress: OnProgress;
  signal?: AbortSignal;
}

async function fetchRest(context: ClientContext, first: URL, from: number, to: PartialDownload): Promise<void> {
  const { part, size, onProgress, signal } = to;
  const answer = await followRedirects(context, first, from, signal);
  const { statusCode: status = 0, headers } = answer;
  const resumed = status === 206 && headers['content-range'] === `bytes ${from}-${size - 1}/${size}`;
  if (status !== 200 && !resumed) {
    answer.destroy();
    if (status === 416 || status === 206) await rm(part, { force: true });
    throw toRejection(status);
  }
  let done = resumed ? from : 0;
  onProgress(done, size);
  const file = createWriteStream(part, { flags: resumed ? 'a' : 'w', mode: 0o600 });
  const counted = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      done += piece.length;
      if (done > size)
        throw new DownloadRejected('checksum_mismatch', 'the package is larger than stated in the release');
      yield piece;
      onProgress(done, size);
    }
  };
  try {
    await pipeline(answer, counted, file, { signal });
  } catch (error) {
    if (error instanceof DownloadRejected) await rm(part, { force: true });
    if (error instanceof DownloadRejected || !isNetworkError(error)) throw error;
    throw new DownloadRejected('network', getErrorText(error), { isTransient: true });
  }
  if (done < size)
    throw new DownloadRejected('network', `the package ended after ${done} of ${size} bytes`, { isTransient: true });
}

const isNetworkError = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(ECONN|ERR_STREAM_PREMATURE_CLOSE|EPIPE|ETIMEDOUT)/.test(String(error.code));

function toRejection(status: number): DownloadRejected {
  const message = `the release store answered ${status}`;
  if (status === 401 || status === 403) return new DownloadRejected('unauthorized', message, { unauthorized: true });
  if (status === 404) return new DownloadRejected('not_found', message);
  return new DownloadRejected(`http_${status}`, message, { isTransient: true });
}

async function followRedirects(
  context: ClientContext,
  first: URL,
  from: number,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  let url = first;
  for (let hops = 0; ; hops++) {
    const answer = await sendGet(context, url, from, signal);
    const { statusCode: status = 0, headers } = answer;
    if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) return answer;
    answer.destroy();
    const next = URL.canParse(headers.location, url.href) ? new URL(headers.location, url) : null;
    if (hops === MAX_REDIRECTS || next === null || !/^https?:$/.test(next.protocol))
      throw new DownloadRejected('redirect', 'the release store redirects to an invalid address', {
        isTransient: true,
      });
    if (url.protocol === 'https:' && next.protocol === 'http:')
      throw new DownloadRejected('redirect', 'a redirect from https to http is not followed');
    url = next;
  }
}

function sendGet(
  { licenseKey, server, timeoutMs }: ClientContext,
  url: URL,
  from: number,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  const headers = {
    'accept-encoding': 'identity',
    ...(from > 0 && { range: `bytes=${from}-` }),
    ...(licenseKey !== null && url.origin === server.origin && { authorization: formatBasicAuth(licenseKey) }),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { agent: false, headers, signal });
    // Limits inactivity, not the whole download, because packages are large.
    request.setTimeout(timeoutMs, () =>
      request.destroy(Object.assign(new Error('no response'), { code: 'ETIMEDOUT' })),
    );
    request.on('error', (error) => reject(new DownloadRejected('network', getErrorText(error), { isTransient: true })));
    request.on('response', resolve);
    request.end();
  });
}

/** As in the access files (contract 40, access files). */
function formatBasicAuth(licenseKey: string): string {
  const key = normalizeLicenseKey(licenseKey);
  return `Basic ${Buffer.from(`${getCredentialName(createHash('sha256').update(key).digest('hex'))}:${key}`).toString('base64')}`;
}

const getFileSize = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
