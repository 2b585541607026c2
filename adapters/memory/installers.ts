import { createHash } from 'node:crypto';
import type { InstallerEncoding, InstallerManifest, Installers } from '../../ports/installers.js';
import type { StoredFile } from '../../ports/release-store.js';

export class MemoryInstallers implements Installers {
  readonly files = new Map<string, Uint8Array>();

  constructor(public built: InstallerManifest | null = null) {}

  getPendingManifest(): null {
    return null;
  }

  async readManifest(): Promise<InstallerManifest | null> {
    return this.built;
  }

  async open(name: string, encoding: InstallerEncoding | null): Promise<StoredFile | null> {
    const bytes = this.files.get(encoding === null ? name : `${name}.${encoding}`);
    if (bytes === undefined) return null;
    const read = async function* (start: number, end: number): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(start, end);
    };
    const tag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    return { size: bytes.length, modifiedAt: new Date(0), tag, read };
  }
}
