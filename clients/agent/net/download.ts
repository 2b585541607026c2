/**
 * The signed manifest limits the size: more is an endless-data attack and exit 3. Only the SHA-256
 * decides, so earlier bytes may have any origin.
 */
import { createHash } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT_CODES, AgentFailure } from '../exit.js';
import { hashFile, useFile } from '../system/files.js';
import type { Hooks } from '../hooks.js';
import { isTransient, readErrorMessage } from './http.js';
import type { Network, PackageResponse } from './network.js';

export interface PackageSource {
  url: URL;
  size: number;
  sha256: string;
}

export interface DownloadContext {
  network: Network;
  hooks: Hooks;
  signal: AbortSignal;
  onAccepted: () => void;
  onProgress: (done: number, before: number) => void;
}

/**
 * The bytes at the URL are not those of the release, because it was withdrawn, republished or
 * tampered with.
 */
export class ContentMismatch extends AgentFailure {
  override name = 'OtherBytes';

  constructor(message: string, outcome: 'unverified' | 'error' = 'unverified') {
    super(outcome, message);
  }
}

export async function downloadPackage(
  folder: string,
  wanted: PackageSource,
  downloader: DownloadContext,
): Promise<string> {
  await deleteOtherDownloads(folder, new Set([wanted.sha256]));
  return downloadFile(folder, wanted, downloader, 'the package');
}

/** Downloads a file into the folder, resumable, under the name of its hash. */
export async function downloadFile(
  folder: string,
  wanted: PackageSource,
  downloader: DownloadContext,
  what = 'the file',
): Promise<string> {
  const path = join(folder, wanted.sha256);
  if (wanted.size === 0) await writeFile(path, '');
  const resumed = (await getFileSize(path)) > 0;
  await fetchAll(path, wanted, downloader);
  if ((await hashFile(path, downloader.signal)) === wanted.sha256) return path;
  await rm(path, { force: true });
  if (resumed) {
    await fetchAll(path, wanted, downloader);
    if ((await hashFile(path, downloader.signal)) === wanted.sha256) return path;
    await rm(path, { force: true });
  }
  throw new ContentMismatch(`the SHA-256 of ${what} does not match the release`);
}

/** @throws ContentMismatch when the bytes do not match `sha256` */
export async function downloadToMemory(
  { url, most, sha256 }: Omit<PackageSource, 'size'> & { most: number },
  network: Network,
  onAccepted: () => void,
): Promise<Buffer> {
  const answer = await network.openPackage(url, { 'accept-encoding': 'identity' });
  await validateResponse(answer, 0, most, 'the manifest');
  onAccepted();
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of answer.content) {
      bytes += piece.length;
      if (bytes > most) throw new AgentFailure('unverified', `the manifest is longer than ${most} bytes`);
      pieces.push(piece);
    }
  } finally {
    await answer.drop();
  }
  const whole = Buffer.concat(pieces);
  if (createHash('sha256').update(whole).digest('hex') === sha256) return whole;
  throw new ContentMismatch('the SHA-256 of the manifest does not match the release');
}

const getFileSize = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** @param retained names to leave */
export async function deleteOtherDownloads(folder: string, retained: ReadonlySet<string>): Promise<void> {
  for (const other of await readdir(folder))
    if (!retained.has(other)) await rm(join(folder, other), { recursive: true, force: true });
}

async function fetchAll(path: string, wanted: PackageSource, downloader: DownloadContext): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const before = await getFileSize(path);
    if (before === wanted.size) return;
    if (before > wanted.size) await rm(path);
    let isAccepted = false;
    const onAccepted = (): void => {
      isAccepted = true;
      downloader.onAccepted();
    };
    try {
      await fetchRest(path, before > wanted.size ? 0 : before, wanted, { ...downloader, onAccepted });
      return;
    } catch (error) {
      const pause = downloader.hooks.retryMs[attempt];
      const again =
        error instanceof AgentFailure && EXIT_CODES[error.outcome] === EXIT_CODES.transient && pause !== undefined;
      // A response that was cut may leave no bytes.
      if (!again || !isAccepted) throw error;
      await sleep(pause, undefined, { signal: downloader.signal });
    }
  }
}

async function fetchRest(
  path: string,
  from: number,
  wanted: PackageSource,
  downloader: DownloadContext,
): Promise<void> {
  const headers: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-` };
  const answer = await downloader.network.openPackage(wanted.url, { 'accept-encoding': 'identity', ...headers });
  await validateResponse(answer, from, wanted.size);
  downloader.onAccepted();
  await writeResponse(path, answer, answer.status === 206 ? from : 0, wanted.size, downloader);
}

/** A 403 comes from a proxy in front of it and does not concern the account. */
export function formatRejection({ status, headers, refused: rejection }: PackageResponse): string {
  if (status === 401) return rejection;
  const { server } = headers;
  const by = typeof server === 'string' ? ` (${server})` : '';
  return `403 for the package${by}: a CDN, proxy or firewall in front of the release store denies access; the credentials were not checked`;
}

async function validateResponse(
  answer: PackageResponse,
  from: number,
  size: number,
  what = 'the package',
): Promise<void> {
  const { status, headers } = answer;
  if (status === 401 || status === 403) {
    await answer.drop();
    throw new AgentFailure('unauthorized', formatRejection(answer));
  }
  if (status === 200) return;
  if (status === 206 && headers['content-range'] === `bytes ${from}-${size - 1}/${size}`) return;
  const errorMessage = await readErrorMessage(answer);
  if (isTransient(status)) throw new AgentFailure('transient', `${what}: ${status} ${errorMessage ?? ''}`);
  if (status === 404) throw new ContentMismatch(`${what} no longer exists`, 'error');
  if (status === 206 || status === 416) throw new ContentMismatch(`${what}: ${status} with a different size`);
  throw new AgentFailure('error', `${what}: ${status} ${errorMessage ?? ''}`);
}

async function writeResponse(
  path: string,
  answer: PackageResponse,
  from: number,
  size: number,
  downloader: DownloadContext,
): Promise<void> {
  if (from === 0) await rm(path, { force: true });
  let done = from;
  try {
    await useFile(path, 'a', async (file) => {
      for await (const piece of answer.content) {
        if (done + piece.length > size) throw createTooLargeFailure(size);
        await file.appendFile(piece);
        done += piece.length;
        downloader.onProgress(done, done - piece.length);
      }
      await file.sync();
    });
  } catch (error) {
    if (error instanceof AgentFailure && error.outcome === 'unverified') await rm(path, { force: true });
    throw error;
  } finally {
    await answer.drop();
  }
  if (done < size) throw new AgentFailure('transient', `the package ended after ${done} of ${size} bytes`);
}

const createTooLargeFailure = (size: number): AgentFailure =>
  new AgentFailure('unverified', `the package is longer than the ${size} bytes of the release`);
