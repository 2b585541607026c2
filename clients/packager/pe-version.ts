/** Reads the version resource of Windows programs (Portable Executable). */
import { open, type FileHandle } from 'node:fs/promises';
import { isVersion } from '../../lib/versions.js';
import { listVersions } from './version-resource.js';

const RESOURCE_DIRECTORY_INDEX = 2;
const RT_VERSION = 16;
const SUBDIRECTORY_FLAG = 0x80000000;
const MAX_RESOURCE_BYTES = 256 * 1024;

interface PeSection {
  address: number;
  size: number;
  offset: number;
}

/** A file that begins like a Windows program but has unreadable tables. */
class UnreadablePeFile extends Error {}

/**
 * Returns the product version, which may have a suffix such as `-beta.1`, else the file version.
 */
export async function readPeVersion(file: string): Promise<string | null> {
  const handle = await open(file);
  try {
    const resource = await readVersionResource(handle);
    return resource === null
      ? null
      : (listVersions(resource)
          .map(toPlainVersion)
          .find((version) => version !== null) ?? null);
  } catch (error) {
    if (error instanceof UnreadablePeFile || error instanceof RangeError) return null;
    throw error;
  } finally {
    await handle.close();
  }
}

/** Normalizes `1.2.3-beta+5f3a` → `1.2.3-beta`, `v1.2.3` → `1.2.3`. */
export function toPlainVersion(text: string | undefined): string | null {
  const version = (text ?? '')
    .trim()
    .replace(/\+.*$/s, '')
    .replace(/^v(?=\d)/, '');
  return isVersion(version) && version !== '0.0.0.0' ? version : null;
}

async function readVersionResource(file: FileHandle): Promise<Buffer | null> {
  const start = await readBytes(file, 0, 64);
  if (start.toString('latin1', 0, 2) !== 'MZ') return null;
  const head = start.readUInt32LE(60);
  const coff = await readBytes(file, head, 24);
  if (coff.toString('latin1', 0, 4) !== 'PE\0\0') return null;
  const optional = await readBytes(file, head + 24, coff.readUInt16LE(20));
  // In 64-bit programs the directory table has a larger offset.
  const directories = optional.readUInt16LE(0) === 0x20b ? 112 : 96;
  const resources = optional.readUInt32LE(directories + RESOURCE_DIRECTORY_INDEX * 8);
  if (resources === 0) return null;
  const sections = await readSections(file, head + 24 + optional.length, coff.readUInt16LE(6));
  const at = (address: number, size: number): Promise<Buffer> => readBytes(file, toFileOffset(sections, address), size);

  const kinds = await readEntries(at, resources, 0);
  const names = await readSubdirectory(
    at,
    resources,
    kinds.find(({ id }) => id === RT_VERSION),
  );
  const languages = await readSubdirectory(at, resources, names[0]);
  const [leaf] = languages;
  if (leaf === undefined) return null;
  const data = await at(resources + leaf.target, 8);
  const size = data.readUInt32LE(4);
  if (size > MAX_RESOURCE_BYTES) throw new UnreadablePeFile();
  return at(data.readUInt32LE(0), size);
}

interface ResourceEntry {
  id: number;
  target: number;
}

type ReadAddress = (address: number, size: number) => Promise<Buffer>;

async function readEntries(at: ReadAddress, resources: number, offset: number): Promise<ResourceEntry[]> {
  const head = await at(resources + offset, 16);
  const count = head.readUInt16LE(12) + head.readUInt16LE(14);
  const table = await at(resources + offset + 16, count * 8);
  return Array.from({ length: count }, (_, i) => ({
    id: table.readUInt32LE(i * 8),
    target: table.readUInt32LE(i * 8 + 4),
  }));
}

async function readSubdirectory(
  at: ReadAddress,
  resources: number,
  entry: ResourceEntry | undefined,
): Promise<ResourceEntry[]> {
  if (entry === undefined) return [];
  if (entry.target < SUBDIRECTORY_FLAG) throw new UnreadablePeFile();
  return readEntries(at, resources, entry.target - SUBDIRECTORY_FLAG);
}

async function readSections(file: FileHandle, offset: number, count: number): Promise<PeSection[]> {
  const table = await readBytes(file, offset, count * 40);
  return Array.from({ length: count }, (_, i) => ({
    address: table.readUInt32LE(i * 40 + 12),
    size: table.readUInt32LE(i * 40 + 16),
    offset: table.readUInt32LE(i * 40 + 20),
  }));
}

function toFileOffset(sections: readonly PeSection[], address: number): number {
  const section = sections.find((section) => address >= section.address && address < section.address + section.size);
  if (section === undefined) throw new UnreadablePeFile();
  return section.offset + address - section.address;
}

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new UnreadablePeFile();
  return buffer;
}
