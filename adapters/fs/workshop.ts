/** Packages read and hashed in threads, two at once: the cores are for answers. */
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { PackageRejected, type PackageContents, type PackagedFile } from '../../ports/release-store.js';
import type { Job, Told } from './worker.js';

const AT_ONCE = 2;
/** Hashed within a millisecond, a fraction of what the start of a thread takes. */
export const SMALL_BYTES = 256 * 1024;

const hashHere = (bytes: Uint8Array): { sha256: string; size: number } => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  size: bytes.length,
});

export class Workshop {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** @throws PackageRejected */
  async inspect(path: string, rules: { platform: string; entry: string | null }): Promise<PackageContents> {
    const files: PackagedFile[] = [];
    const { read } = (await this.#run({ kind: 'inspect', path, ...rules }, files)) as Told & { read: object };
    return { files, ...(read as { unpacked: number; setup: string | null }) };
  }

  async hash(path: string): Promise<{ sha256: string; size: number }> {
    const { size } = await stat(path);
    if (size <= SMALL_BYTES) return hashHere(await readFile(path));
    const told = (await this.#run({ kind: 'hash', path }, [])) as Told & { hashed: object };
    return told.hashed as { sha256: string; size: number };
  }

  async #run(job: Job, files: PackagedFile[]): Promise<Told> {
    if (this.#running >= AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await ask(job, files);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** One job in a thread of its own. @param files takes the files of a package */
function ask(job: Job, files: PackagedFile[]): Promise<Told> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: job });
    worker.on('message', (told: Told) => {
      if ('files' in told) {
        files.push(...told.files);
        worker.postMessage('go on', []);
      } else if ('rejected' in told) reject(new PackageRejected(told.rejected.entry, told.rejected.why));
      else if ('failed' in told) reject(Object.assign(new Error(told.failed.message), { code: told.failed.code }));
      else resolve(told);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the thread that reads packages ended with code ${code}`)));
  });
}
