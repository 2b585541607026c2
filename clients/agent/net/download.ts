/**
 * Downloads a package into `.update-agent/download/`, resumable (Range). The signed manifest limits
 * the size: more is an endless-data attack and exit 3. Only the SHA-256 decides, so earlier bytes
 * may have any origin.
 */
import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, AgentFailure } from '../exit.js';
import { hashOf, withFile } from '../system/files.js';
import type { Hooks } from '../hooks.js';
import { isTransient, messageOf } from './http.js';
import type { Network, Package } from './network.js';

export interface Wanted {
  url: URL;
  size: number;
  sha256: string;
}

export interface Downloader {
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
export class OtherBytes extends AgentFailure {
  override name = 'OtherBytes';

  constructor(message: string, outcome: 'unverified' | 'error' = 'unverified') {
    super(outcome, message);
  }
}

export async function download(folder: string, wanted: Wanted, downloader: Downloader): Promise<string> {
  const path = join(folder, wanted.sha256);
  await forgetOthers(folder, wanted.sha256);
  const resumed = (await sizeOf(path)) > 0;
  await fetchAll(path, wanted, downloader);
  if ((await hashOf(path, downloader.signal)) === wanted.sha256) return path;
  await rm(path, { force: true });
  if (resumed) {
    await fetchAll(path, wanted, downloader);
    if ((await hashOf(path, downloader.signal)) === wanted.sha256) return path;
    await rm(path, { force: true });
  }
  throw new OtherBytes('the package’s SHA-256 is not the one of the release');
}

/**
 * Reads a file of the release store into memory, for example its manifest.
 * @throws ContentMismatch when the bytes do not match `sha256`
 */
export async function readSmall(
  { url, most, sha256 }: Omit<Wanted, 'size'> & { most: number },
  network: Network,
  onAccepted: () => void,
): Promise<Buffer> {
  const answer = await network.open(url, { 'accept-encoding': 'identity' });
  await judge(answer, 0, most, 'the manifest');
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
  throw new OtherBytes('the manifest’s SHA-256 is not the one of the release');
}

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

async function forgetOthers(folder: string, name: string): Promise<void> {
  for (const other of await readdir(folder))
    if (other !== name) await rm(join(folder, other), { recursive: true, force: true });
}

async function fetchAll(path: string, wanted: Wanted, downloader: Downloader): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const before = await sizeOf(path);
    if (before === wanted.size) return;
    if (before > wanted.size) await rm(path);
    try {
      await fetchRest(path, before > wanted.size ? 0 : before, wanted, downloader);
      return;
    } catch (error) {
      const pause = downloader.hooks.retryMs[attempt];
      const again = error instanceof AgentFailure && EXIT[error.outcome] === EXIT.transient && pause !== undefined;
      if (!again || (await sizeOf(path)) === before) throw error;
      await sleep(pause, undefined, { signal: downloader.signal });
    }
  }
}

async function fetchRest(path: string, from: number, wanted: Wanted, downloader: Downloader): Promise<void> {
  const headers: Record<string, string> = from === 0 ? {} : { range: `bytes=${from}-` };
  const answer = await downloader.network.open(wanted.url, { 'accept-encoding': 'identity', ...headers });
  await judge(answer, from, wanted.size);
  downloader.onAccepted();
  await write(path, answer, answer.status === 206 ? from : 0, wanted.size, downloader);
}

/**
 * The release store answers 401 to invalid credentials. A 403 comes from a proxy in front of it and
 * does not concern the account.
 */
export function formatRejection({ status, headers, refused }: Package): string {
  if (status === 401) return refused;
  const { server } = headers;
  const by = typeof server === 'string' ? ` (${server})` : '';
  return `403 for the package${by}: a CDN, proxy or firewall in front of the release store denies access; the credentials were not checked`;
}

async function judge(answer: Package, from: number, size: number, what = 'the package'): Promise<void> {
  const { status, headers } = answer;
  if (status === 401 || status === 403) {
    await answer.drop();
    throw new AgentFailure('unauthorized', formatRejection(answer));
  }
  if (status === 200) return;
  if (status === 206 && headers['content-range'] === `bytes ${from}-${size - 1}/${size}`) return;
  const said = await messageOf(answer);
  if (isTransient(status)) throw new AgentFailure('transient', `${what}: ${status} ${said ?? ''}`);
  if (status === 404) throw new OtherBytes(`${what} is not there any more`, 'error');
  if (status === 206 || status === 416) throw new OtherBytes(`${what}: ${status} with another size`);
  throw new AgentFailure('error', `${what}: ${status} ${said ?? ''}`);
}

async function write(path: string, answer: Package, from: number, size: number, downloader: Downloader): Promise<void> {
  if (from === 0) await rm(path, { force: true });
  let done = from;
  try {
    await withFile(path, 'a', async (file) => {
      for await (const piece of answer.content) {
        if (done + piece.length > size) throw tooLong(size);
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

const tooLong = (size: number): AgentFailure =>
  new AgentFailure('unverified', `the package is longer than the ${size} bytes of the release`);
