/** Artifact bundles as Sentry's tools write them, and as nobody should. */
import { deflateRawSync } from 'node:zlib';
import type { UploadedBytes } from '../../../ports/source-map-reader.js';

export interface Entry {
  name: string;
  bytes: Buffer;
  /** What the archive says instead of the truth. */
  says?: { size?: number; offset?: number; packed?: number; method?: number; flags?: number };
}

/**
 * A zip archive behind the tool's signature; sums are left out, as no reader here asks for them.
 */
export function archive(entries: readonly Entry[], prefix = Buffer.from('SYSB\x02\0\0\0', 'latin1')): Buffer {
  const parts: Buffer[] = [prefix];
  const directory: Buffer[] = [];
  let at = prefix.length;
  for (const { name, bytes, says = {} } of entries) {
    const packed = deflateRawSync(bytes);
    const title = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(bytes.length, 22);
    local.writeUInt16LE(title.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(says.flags ?? 0, 8);
    central.writeUInt16LE(says.method ?? 8, 10);
    central.writeUInt32LE(says.packed ?? packed.length, 20);
    central.writeUInt32LE(says.size ?? bytes.length, 24);
    central.writeUInt16LE(title.length, 28);
    central.writeUInt32LE(says.offset ?? at, 42);
    parts.push(local, title, packed);
    directory.push(central, title);
    at += local.length + title.length + packed.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

export interface Described {
  path: string;
  type: string;
  url: string;
  headers?: Record<string, string>;
  text: string;
}

export const bundle = (files: readonly Described[]): Buffer =>
  archive([
    ...files.map(({ path, text }) => ({ name: path, bytes: Buffer.from(text) })),
    {
      name: 'manifest.json',
      bytes: Buffer.from(
        JSON.stringify({
          files: Object.fromEntries(files.map(({ path, type, url, headers }) => [path, { type, url, headers }])),
        }),
      ),
    },
  ]);

export const bytesOf = (bytes: Buffer): UploadedBytes => ({
  size: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
});
